import type { MessageId } from '@gateway/core/messages'

/**
 * Pairs each item of `asked`, in order, with the result of its look-up, or with `nothing` if the item cannot be the id
 * of a message. All ids are looked up in one call; `lookUp` returns one result for each id, in order.
 */
export async function foundFor<Asked, Found>(
  asked: readonly Asked[],
  idOf: (asked: Asked) => MessageId | undefined,
  nothing: Found,
  lookUp: (ids: readonly MessageId[]) => Promise<readonly Found[]>,
): Promise<readonly { readonly asked: Asked; readonly found: Found }[]> {
  const ids = asked.map(idOf)
  const found = (await lookUp(ids.filter((id) => id !== undefined))).values()
  return asked.map((one, i) => ({
    asked: one,
    found: (ids[i] === undefined ? undefined : found.next().value) ?? nothing,
  }))
}

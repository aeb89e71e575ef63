import type { MessageId } from '@gateway/core/messages'

/**
 * Looks up those of `asked` that a message can have as its id, in one call, and pairs each, in order, with what was
 * found; with `nothing` where it is no such id. `lookUp` gives one result per id, in order.
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

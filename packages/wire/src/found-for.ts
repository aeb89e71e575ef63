import type { MessageId } from '@gateway/core/messages'

/**
 * Pairs each item of `items`, in order, with the result of its look-up, or with `nothing` if the item cannot be the id
 * of a message. All ids are looked up in one call; `lookUp` returns one result for each id, in order.
 */
export async function foundFor<Item, Found>(
  items: readonly Item[],
  idOf: (item: Item) => MessageId | undefined,
  nothing: Found,
  lookUp: (ids: readonly MessageId[]) => Promise<readonly Found[]>,
): Promise<readonly { readonly item: Item; readonly found: Found }[]> {
  const ids = items.map(idOf)
  const found = (await lookUp(ids.filter((id) => id !== undefined))).values()
  return items.map((one, i) => ({
    item: one,
    found: (ids[i] === undefined ? undefined : found.next().value) ?? nothing,
  }))
}

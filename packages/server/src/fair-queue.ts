/** What waits on behalf of several owners. Owners take turns; of one owner what came first is first. */
export interface FairQueue<Item> {
  readonly length: number
  push(owner: string, item: Item): void
  /** The next in turn; its owner's turn comes again after one of each other owner. */
  shift(): Item | undefined
  /** Takes out one that waits; false if it waits no more. */
  remove(owner: string, item: Item): boolean
  /**
   * Makes room for one of `newcomer`: takes out the newest of the owner with most waiting, of several the one whose turn comes last.
   * Undefined: no other owner has more waiting than the newcomer would have.
   */
  displace(newcomer: string): Item | undefined
}

export function fairQueue<Item>(): FairQueue<Item> {
  /** The order of the keys is that of the turns. */
  const waiting = new Map<string, Item[]>()
  let length = 0

  function taken(owner: string, items: readonly Item[]): void {
    length--
    if (items.length === 0) waiting.delete(owner)
  }

  return {
    get length() {
      return length
    },
    push(owner, item) {
      length++
      const items = waiting.get(owner)
      if (items === undefined) waiting.set(owner, [item])
      else items.push(item)
    },
    shift() {
      const [next] = waiting
      if (next === undefined) return undefined
      const [owner, items] = next
      waiting.delete(owner)
      const item = items.shift()
      if (items.length > 0) waiting.set(owner, items)
      length--
      return item
    },
    remove(owner, item) {
      const items = waiting.get(owner) ?? []
      const at = items.indexOf(item)
      if (at === -1) return false
      items.splice(at, 1)
      taken(owner, items)
      return true
    },
    displace(newcomer) {
      let most = (waiting.get(newcomer)?.length ?? 0) + 1
      let heaviest: string | undefined
      for (const [owner, items] of waiting) {
        if (items.length < most || (items.length === most && heaviest === undefined)) continue
        most = items.length
        heaviest = owner
      }
      const items = heaviest === undefined ? undefined : waiting.get(heaviest)
      const item = items?.pop()
      if (heaviest !== undefined && items !== undefined) taken(heaviest, items)
      return item
    },
  }
}

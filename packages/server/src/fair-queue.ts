/**
 * What waits on behalf of several owners. Owners take turns by work: who has had least since both wait is next. Of one owner what came first
 * is first.
 */
export interface FairQueue<Item> {
  readonly length: number
  /** `work`: what it costs beside others, in any unit; 1 if not given. Of equal work, owners come one after the other. */
  push(owner: string, item: Item, work?: number): void
  /** The next in turn, which stays. */
  peek(): Item | undefined
  /** The next in turn; its owner's turn comes again when each other owner has had as much work. */
  shift(): Item | undefined
  /** Takes out one that waits; false if it waits no more. */
  remove(owner: string, item: Item): boolean
  /**
   * Makes room for one of `newcomer`: takes out the newest of the owner with most waiting, of several the one whose turn comes last.
   * Undefined: no other owner has more waiting than the newcomer would have.
   */
  displace(newcomer: string): Item | undefined
}

interface Waiting<Item> {
  readonly items: { readonly item: Item; readonly work: number }[]
  /** Work that it has had since it waits; who comes later begins with the least that another has. */
  had: number
}

export function fairQueue<Item>(): FairQueue<Item> {
  /** The order of the keys is that of the turns of those that have had the same. */
  const waiting = new Map<string, Waiting<Item>>()
  let length = 0

  function taken(owner: string, { items }: Waiting<Item>): void {
    length--
    if (items.length === 0) waiting.delete(owner)
  }

  function next(): readonly [owner: string, its: Waiting<Item>] | undefined {
    let least: readonly [string, Waiting<Item>] | undefined
    for (const entry of waiting) if (least === undefined || entry[1].had < least[1].had) least = entry
    return least
  }

  return {
    get length() {
      return length
    },
    push(owner, item, work = 1) {
      length++
      const its = waiting.get(owner)
      if (its === undefined) waiting.set(owner, { items: [{ item, work }], had: next()?.[1].had ?? 0 })
      else its.items.push({ item, work })
    },
    peek: () => next()?.[1].items[0]?.item,
    shift() {
      const [owner, its] = next() ?? []
      if (owner === undefined || its === undefined) return undefined
      waiting.delete(owner)
      const first = its.items.shift()
      its.had += first?.work ?? 0
      if (its.items.length > 0) waiting.set(owner, its)
      length--
      return first?.item
    },
    remove(owner, item) {
      const its = waiting.get(owner)
      const at = its?.items.findIndex((each) => each.item === item) ?? -1
      if (its === undefined || at === -1) return false
      its.items.splice(at, 1)
      taken(owner, its)
      return true
    },
    displace(newcomer) {
      let most = (waiting.get(newcomer)?.items.length ?? 0) + 1
      let heaviest: readonly [string, Waiting<Item>] | undefined
      for (const entry of waiting) {
        const { length: count } = entry[1].items
        if (count < most || (count === most && heaviest === undefined)) continue
        most = count
        heaviest = entry
      }
      if (heaviest === undefined) return undefined
      const item = heaviest[1].items.pop()?.item
      taken(...heaviest)
      return item
    },
  }
}

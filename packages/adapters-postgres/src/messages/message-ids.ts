import type { Connections } from '../connections.ts'
import { isLostAnswer } from '../errors.ts'
import type { Settings } from '../settings.ts'
import { leaseBlock, leaseShared } from '../sql/ids.ts'

/** Ids from `lo` to `hi - 1`, all of one block. */
export interface IdRange {
  readonly lo: number
  readonly hi: number
  /** Time by the clock of the process after which these ids are no longer used. Dropping old history relies on it. */
  readonly until: number
}

/** Source of ids that only this process gives to messages. */
export interface MessageIds {
  /** Returns `count` ids in ascending order. Leases more if the free ones are too few. */
  take(count: number): Promise<readonly IdRange[]>
  /** Makes ids available again that are certainly not in use. Otherwise refused orders would use up partitions. */
  giveBack(ranges: readonly IdRange[]): void
}

const pieceMax = 5000
const sharedLeaseMin = 100
const leaseMilliseconds = 3_600_000
const rangesMax = 64

const idsIn = ({ lo, hi }: IdRange): number => hi - lo

/** Creates a source of ids. `now` is a monotonic clock in milliseconds. */
export function messageIds(
  connections: Pick<Connections, 'run'>,
  source: Settings['ids'],
  now: () => number = () => performance.now(),
): MessageIds {
  let free: readonly IdRange[] = []
  let turn: Promise<unknown> = Promise.resolve()

  const ask = (count: number) =>
    source === 'own-block'
      ? connections.run(leaseBlock, {})
      : connections.run(leaseShared, { count: Math.max(count, sharedLeaseMin) })

  async function lease(count: number): Promise<IdRange> {
    const until = now() + leaseMilliseconds
    const [leased] = await ask(count).catch((error: unknown) => {
      // If the answer was lost, the ids that it leased stay unused, and other ids are leased.
      if (isLostAnswer(error)) return ask(count)
      throw error
    })
    if (leased === undefined) throw new Error('no message ids were leased')
    return { ...leased, until }
  }

  async function takePiece(count: number): Promise<IdRange> {
    free = free.filter(({ until }) => until > now())
    const found = free.find((range) => idsIn(range) >= count)
    const range = found ?? (await lease(count))
    const cut = range.lo + count
    const rest = cut < range.hi ? [{ ...range, lo: cut }] : []
    free = [...free.filter((other) => other !== found), ...rest].slice(-rangesMax)
    return { ...range, hi: cut }
  }

  async function takePieces(count: number): Promise<readonly IdRange[]> {
    const pieces: IdRange[] = []
    for (let rest = count; rest > 0; rest -= pieceMax) pieces.push(await takePiece(Math.min(rest, pieceMax)))
    return pieces.sort((a, b) => a.lo - b.lo)
  }

  return {
    take: (count) => {
      // Calls run one at a time, so that the second of two callers uses the rest of the ids that the first one leased.
      const ids = turn.then(() => takePieces(count))
      turn = ids.catch(() => undefined)
      return ids
    },
    giveBack: (ranges) => {
      for (const range of ranges) free = joined(free, range).slice(-rangesMax)
    },
  }
}

/**
 * Adds a range to the free ranges and merges it with adjacent ones. Without merging, the ranges would only get smaller.
 */
function joined(free: readonly IdRange[], range: IdRange): readonly IdRange[] {
  if (idsIn(range) <= 0) return free
  const beside = free.find((other) => other.until === range.until && (other.lo === range.hi || other.hi === range.lo))
  if (beside === undefined) return [...free, range]
  const both = { ...range, lo: Math.min(beside.lo, range.lo), hi: Math.max(beside.hi, range.hi) }
  return joined(
    free.filter((other) => other !== beside),
    both,
  )
}

/** Returns a counter over the ids of some ranges, in their order. */
export function idCounter(ranges: readonly IdRange[]) {
  let at = 0
  let id = ranges[0]?.lo ?? 0
  return {
    /** Returns the next id. Throws if all have been used. */
    next(): number {
      for (let range = ranges[at]; range !== undefined; range = ranges[++at]) {
        id = Math.max(id, range.lo)
        if (id < range.hi) return id++
      }
      throw new Error('an order has more recipients than ids')
    },
    /** Returns the ids that the order does not use. */
    rest: (): readonly IdRange[] =>
      ranges.slice(at).map((range) => ({ ...range, lo: Math.min(Math.max(id, range.lo), range.hi) })),
  }
}

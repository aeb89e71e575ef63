import type { Connections } from '../connections.ts'
import { isLostAnswer } from '../errors.ts'
import type { Settings } from '../settings.ts'
import { leaseBlock, leaseShared } from '../sql/ids.ts'

/** The ids `lo` to `hi - 1`, all of one block. */
export interface IdRange {
  readonly lo: number
  readonly hi: number
  /** By the clock of the process. From then on nothing is stored under these ids: dropping old history counts on it. */
  readonly until: number
}

/** Ids that this process alone may give to messages. */
export interface MessageIds {
  /** So many ids, ascending. Leases more where what is left does not do. */
  take(count: number): Promise<readonly IdRange[]>
  /** Ids that were taken and are certainly not in use. Without it, refused orders would use up partitions. */
  giveBack(ranges: readonly IdRange[]): void
}

const pieceMax = 5000
const sharedLeaseMin = 100
const leaseMilliseconds = 3_600_000
const rangesMax = 64

const idsIn = ({ lo, hi }: IdRange): number => hi - lo

/** `now` is a clock in milliseconds that never goes back. */
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
      // Ids of a lost answer are nobody's: the next are as good.
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
    for (let left = count; left > 0; left -= pieceMax) pieces.push(await takePiece(Math.min(left, pieceMax)))
    return pieces.sort((a, b) => a.lo - b.lo)
  }

  return {
    take: (count) => {
      // One after the other: the second of two callers finds what the lease of the first has left.
      const taken = turn.then(() => takePieces(count))
      turn = taken.catch(() => undefined)
      return taken
    },
    giveBack: (ranges) => {
      for (const range of ranges) free = joined(free, range).slice(-rangesMax)
    },
  }
}

/** Puts a range back, together with what it borders on: else the pieces would only ever become smaller. */
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

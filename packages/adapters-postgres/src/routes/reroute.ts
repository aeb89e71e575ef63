import { routeNumberOf, type AccountId, type Msisdn, type PublishedRoute, type SenderAddress } from '@gateway/core'
import type { Connections } from '../connections.ts'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import { arrayOf, textsFromArray } from '../sql/arrays.ts'
import { findStranded, moveRanges, type StrandedRow } from '../sql/reroute.ts'

interface Part {
  readonly queue: number
  readonly lo: number
  hi: number
}

/** Moves at most so many ranges to the queues of the routes that `read` returns; where routes change meanwhile the next call moves them again. */
export async function reroute(
  hot: Connections,
  read: () => Promise<readonly PublishedRoute[]>,
  rangesMax: number,
): Promise<number> {
  const found = await retryOnConnectionLoss(hot, findStranded, [rangesMax])
  if (found.length === 0) return 0
  const routes = await read()
  const parts = found.map((row) => partsOf(row, routes))
  const [row] = await retryOnConnectionLoss(hot, moveRanges, [
    arrayOf(found.map(({ queue }) => queue)),
    arrayOf(found.map(({ lane }) => lane)),
    arrayOf(found.map(({ account }) => account)),
    arrayOf(found.map(({ lo }) => lo)),
    arrayOf(found.map(({ hi }) => hi)),
    parts.map((ofRange) => arrayOf(ofRange.map(({ queue }) => queue))),
    parts.map((ofRange) => arrayOf(ofRange.map(({ lo }) => lo))),
    parts.map((ofRange) => arrayOf(ofRange.map(({ hi }) => hi))),
  ])
  return row?.moved ?? 0
}

/** Neighbours of one route stay together. */
function partsOf({ account, lo, from, numbers }: StrandedRow, routes: readonly PublishedRoute[]): readonly Part[] {
  const common = { account: account as AccountId, from: (from ?? undefined) as SenderAddress | undefined }
  const parts: Part[] = []
  for (const [i, number] of textsFromArray(numbers).entries()) {
    const queue = routeNumberOf(routes, { ...common, to: number as Msisdn })
    const last = parts.at(-1)
    if (last?.queue === queue) last.hi = lo + i + 1
    else parts.push({ queue, lo: lo + i, hi: lo + i + 1 })
  }
  return parts
}

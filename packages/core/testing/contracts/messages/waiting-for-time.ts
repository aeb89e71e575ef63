import { secondsAfter, type AccountId, type Instant, type MessageId } from '@gateway/core'
import { realClock } from '../../memory/clock.ts'
import { until } from '../../until.ts'
import { farAhead } from '../shared.ts'
import type { Traffic } from '../claimed-batches/traffic.ts'

/** So far ahead that what is accepted now is still scheduled when it is stored. */
export const soon = (seconds = 1): Instant => secondsAfter(realClock().now(), seconds)

/** The same, four times as far ahead as sends of these sizes take on this machine now; another account tries them. */
export async function soonFor(traffic: Traffic, sizes: readonly number[]): Promise<Instant> {
  const other = await traffic.account()
  const began = performance.now()
  await Promise.all(sizes.map((to) => traffic.send(other, { to, due: farAhead })))
  return soon(1 + (4 * (performance.now() - began)) / 1000)
}

/** Scheduled sends of these sizes that have become due and that nobody has claimed. */
export async function dueSends(
  traffic: Traffic,
  by: AccountId,
  sizes: readonly number[],
): Promise<readonly (readonly MessageId[])[]> {
  const due = await soonFor(traffic, sizes)
  const sends = await Promise.all(sizes.map((to) => traffic.send(by, { to, due })))
  let moved = 0
  await until(async () => (moved += await traffic.ports.claimedBatches.promote(1000)) >= sizes.length)
  return sends
}

import { instant } from '../time/instant.ts'
import { isStalled, isSuspect, observe, type Observation, type Stall } from './stall.ts'

const seconds = 10
const waiting: Omit<Observation, 'at'> = { isWaiting: true, moved: 7, renewed: undefined, failed: undefined }

/**
 * Observes work every half second and returns the stalls. The work waits and the store answers, except as `change`
 * overrides the observation of a second.
 */
function watch(lookSeconds: number, change: (second: number) => Partial<Observation>): readonly Stall[] {
  const seen: Stall[] = []
  for (let second = 0; second <= lookSeconds; second += 0.5) {
    const at = instant(second * 1000)
    seen.push(observe(seen.at(-1), { ...waiting, renewed: at, ...change(second), at }, seconds))
  }
  return seen
}

/** Returns the first millisecond in which a stall is reported. */
const stalledAt = (seen: readonly Stall[]): number | undefined => seen.find((one) => isStalled(one, seconds))?.last.at

test('work that does not move for ten seconds while the store answers is stalled', () => {
  const seen = watch(15, () => ({}))
  expect(stalledAt(seen)).toBe(10_000)
  expect(seen.filter((one) => isSuspect(one, seconds))[0]?.last.at).toBe(5000)
})

test.each<[string, (second: number) => Partial<Observation>]>([
  ['nothing waits, or the carrier has no room for it', () => ({ isWaiting: false })],
  ['it moves now and then', (second) => ({ moved: Math.floor(second / 9) })],
  ['for a moment nothing waited', (second) => ({ isWaiting: second % 9 !== 0 })],
  ['the lease was never renewed', () => ({ renewed: undefined })],
  ['the store answered at the beginning only', (second) => ({ renewed: instant(Math.min(second, 4) * 1000) })],
  ['the store fails again and again', (second) => ({ failed: instant((second - (second % 4)) * 1000) })],
])('no alarm in a minute in which %s', (_, change) => {
  expect(stalledAt(watch(60, change))).toBeUndefined()
})

test('after an outage of the store the ten seconds start at its end', () => {
  const away = 30
  const change = (second: number): Partial<Observation> =>
    second <= away ? { renewed: instant(0), failed: instant(second * 1000) } : { failed: instant(away * 1000) }
  expect(stalledAt(watch(60, change))).toBe((away + seconds) * 1000)
})

test('after a pause of the process the ten seconds start again', () => {
  const before = watch(9, () => ({}))
  const at = instant(60_000)
  expect(isStalled(observe(before.at(-1), { ...waiting, renewed: at, at }, seconds), seconds)).toBe(false)
})

test('the first movement ends a stall', () => {
  const stalled = watch(12, () => ({})).at(-1)
  const at = instant(12_500)
  expect(stalled && isStalled(stalled, seconds)).toBe(true)
  expect(isStalled(observe(stalled, { ...waiting, moved: 8, renewed: at, at }, seconds), seconds)).toBe(false)
})

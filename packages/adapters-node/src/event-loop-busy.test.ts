import { until } from '@gateway/core/testing'
import { eventLoopBusy } from './event-loop-busy.ts'

/** Occupies the event loop until so much has gone, by the clock of the looks. */
function work(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

test('an event loop that works is busy, and one that waits is not', async () => {
  const isBusy = eventLoopBusy()
  // What the loop does before its first turn is not counted.
  await new Promise(setImmediate)
  await until(() => {
    work(150)
    return isBusy()
  })
  await until(() => !isBusy())
})

import { until } from '@gateway/core/testing'
import { eventLoopBusy } from './event-loop-busy.ts'

/** Blocks the event loop for this many milliseconds, by the clock of the measurement. */
function work(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

test('a working event loop is busy, and a waiting one is not', async () => {
  const isBusy = eventLoopBusy()
  // Work before the first turn of the loop is not measured.
  await new Promise(setImmediate)
  await until(() => {
    work(150)
    return isBusy()
  })
  await until(() => !isBusy())
})

import { setImmediate as nextTurn } from 'node:timers/promises'
import { aClaimedBatchId, aDispatcherId } from '@gateway/core/testing'
import { emptySky, takeOff } from './aloft.ts'
import type { ClaimedMessage, ClaimedBatches, Recorded } from './claimed-batches.ts'
import { createRecorder } from './recorder.ts'

const dispatcher = aDispatcherId(1)

/** A recorder of one batch of ten messages, and the sizes of the batches that it commits. */
function aRecorder(moreSoon: (count: number) => boolean) {
  const sky = emptySky()
  const messages = Array.from({ length: 10 }, (_, i) => ({ id: i + 1 }) as unknown as ClaimedMessage)
  const aloft = takeOff(sky, 'bulk', dispatcher, { id: aClaimedBatchId(1), messages, marked: 10 }, new Set())
  const batches: number[] = []
  const record: ClaimedBatches['record'] = async (_dispatcher, _finished, outcomes) => {
    batches.push(outcomes.length)
    await nextTurn()
    return 'recorded'
  }
  const nothing = () => undefined
  const on = {
    room: () => [],
    moreSoon,
    recorded: nothing,
    stored: nothing,
    committed: nothing,
    fenced: nothing,
    problem: nothing,
  }
  const recorder = createRecorder({ claimedBatches: { record } as ClaimedBatches }, sky, { board: () => [] }, on)
  const answered = (count: number) => {
    for (const message of messages.splice(0, count)) {
      recorder.record(aloft, { batch: aloft.batch, message, handover: { outcome: 'unknown' } } satisfies Recorded)
    }
    recorder.run()
  }
  return { recorder, batches, answered }
}

test('outcomes wait while at least as many more come soon, and are then committed together', async () => {
  let unanswered = 10
  const { recorder, batches, answered } = aRecorder((count) => count <= unanswered)
  unanswered = 7
  answered(3)
  await nextTurn()
  expect(batches).toEqual([])
  unanswered = 4
  answered(3)
  await nextTurn()
  expect(batches).toEqual([6])
  unanswered = 0
  answered(4)
  for (let turn = 0; turn < 5; turn++) await nextTurn()
  expect(batches).toEqual([6, 4])
  expect(recorder.size()).toBe(0)
})

test('what waits for others that do not come is committed when it is flushed', async () => {
  const { recorder, batches, answered } = aRecorder(() => true)
  answered(3)
  await nextTurn()
  expect(batches).toEqual([])
  recorder.flush()
  for (let turn = 0; turn < 5; turn++) await nextTurn()
  expect(batches).toEqual([3])
  expect(recorder.size()).toBe(0)
})

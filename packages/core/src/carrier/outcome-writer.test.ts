import { setImmediate as nextTurn } from 'node:timers/promises'
import { aClaimedBatchId, aDispatcherId } from '@gateway/core/testing'
import type { ClaimedBatches, ClaimedMessage } from './claimed-batches.ts'
import { createInFlight } from './in-flight.ts'
import { createOutcomeWriter } from './outcome-writer.ts'

const dispatcher = aDispatcherId(1)

/** A writer with one submitted batch of ten messages, and what it asks of the store, which answers as told. */
function aWriter(...answers: readonly ('recorded' | 'fenced' | Error)[]) {
  const inFlight = createInFlight(100)
  const messages = Array.from({ length: 10 }, (_, i) => ({ id: i + 1 }) as unknown as ClaimedMessage)
  const batch = inFlight.open('bulk', dispatcher, { id: aClaimedBatchId(1), messages, marked: 8 }, new Set())
  inFlight.submit(batch, 8)
  const calls: { readonly outcomes: number; readonly upTo: number | undefined }[] = []
  const recorded: (readonly [id: number, outcome: string])[] = []
  const record: ClaimedBatches['record'] = async (_, outcomes, marks = []) => {
    for (const { message, handover } of outcomes) recorded.push([message.id, handover.outcome])
    calls.push({ outcomes: outcomes.length, upTo: marks[0]?.upTo })
    await nextTurn()
    const answer = answers[calls.length - 1] ?? 'recorded'
    if (answer instanceof Error) throw answer
    return answer
  }
  const postpone = () => Promise.resolve('fenced')
  const writer = createOutcomeWriter(
    { claimedBatches: { record, postpone } as unknown as ClaimedBatches },
    inFlight,
    () => 2,
  )
  const answered = (count: number): void => {
    for (const { message } of [...inFlight.unanswered.values()].slice(0, count)) {
      inFlight.answer(message.id)
      writer.record(batch, message, { outcome: 'accepted', reference: `r${message.id}` })
    }
  }
  return { inFlight, batch, writer, calls, recorded, answered }
}

test('outcomes that come while others are committed go with the next commit', async () => {
  const { writer, calls, answered } = aWriter()
  answered(3)
  const first = writer.write()
  answered(2)
  expect(await first).toEqual({ fenced: new Set(), problems: [] })
  expect([calls.length, writer.size(), writer.gathering()]).toEqual([1, 2, 2])
  await writer.write()
  expect([calls.map(({ outcomes }) => outcomes), writer.size(), writer.commits()]).toEqual([[3, 2], 0, 2])
})

test('a record that failed is repeated with the same marks, and until then its references are known', async () => {
  const lost = new Error('lost')
  const { batch, writer, calls, answered } = aWriter(lost)
  answered(3)
  expect((await writer.write()).problems).toEqual([lost])
  expect([writer.size(), writer.hasReference('r1'), batch.marked]).toEqual([3, true, 8])
  await writer.write()
  expect(calls.map(({ upTo }) => upTo)).toEqual([10, 10])
  expect([writer.size(), writer.hasReference('r1'), batch.marked]).toEqual([0, false, 10])
})

test('a dispatcher that was declared dead is fenced, confirms no mark, and its batch ends with its last outcome', async () => {
  const { inFlight, batch, writer, calls, answered } = aWriter('fenced')
  answered(3)
  expect((await writer.write()).fenced).toEqual(new Set([dispatcher]))
  expect([batch.fenced, batch.marked, batch.open]).toEqual([true, 8, 5])
  answered(5)
  await writer.write()
  expect(calls.at(-1)).toMatchObject({ upTo: undefined })
  expect(inFlight.batches()).toEqual([])
})

test('what the carrier refused for now and cannot be given back any more is recorded as refused, by the same call', async () => {
  const { inFlight, batch, writer, recorded } = aWriter('fenced')
  const [first, second] = [...inFlight.unanswered.values()]
  for (const one of [first, second]) {
    if (one === undefined) throw new Error('nothing is unanswered')
    inFlight.answer(one.message.id)
    writer.postpone(batch, one.message, 2)
  }
  expect((await writer.write()).fenced).toEqual(new Set([dispatcher]))
  expect(recorded).toEqual([
    [1, 'refused'],
    [2, 'refused'],
  ])
  expect([writer.size(), batch.open]).toEqual([0, 6])
})

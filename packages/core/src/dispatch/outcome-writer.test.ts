import { setImmediate as nextTurn } from 'node:timers/promises'
import { aClaimedBatchId, aDispatcherId, scriptedCarrier, steppingClock, until } from '@gateway/core/testing'
import { dispatchWorld } from '../../testing/dispatch-world.ts'
import type { ClaimedBatches, ClaimedMessage } from './claimed-batches.ts'
import { createDispatcher } from './dispatcher.ts'
import { InFlight } from './in-flight.ts'
import { Gathering } from './gathering.ts'
import { OutcomeWriter } from './outcome-writer.ts'

const dispatcher = aDispatcherId(1)

/**
 * Creates a writer with one submitted batch of ten messages. `answers` are the store's answers to the `record` calls,
 * which are collected in `calls`.
 */
function aWriter(...answers: readonly ('recorded' | 'fenced' | Error)[]) {
  const inFlight = new InFlight(100)
  const messages = Array.from({ length: 10 }, (_, i) => ({ id: i + 1 }) as unknown as ClaimedMessage)
  const batch = inFlight.open('bulk', dispatcher, { id: aClaimedBatchId(1), messages, marked: 8 }, new Set())
  inFlight.submit(batch, 8, 0)
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
  const writer = new OutcomeWriter(
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

test('outcomes that arrive during a commit go with the next one', async () => {
  const { writer, calls, answered } = aWriter()
  answered(3)
  const first = writer.write()
  answered(2)
  expect(await first).toEqual({ fenced: new Set(), problems: [] })
  expect([calls.length, writer.size, writer.gathering]).toEqual([1, 2, 2])
  await writer.write()
  expect([calls.map(({ outcomes }) => outcomes), writer.size, writer.commits]).toEqual([[3, 2], 0, 2])
})

test('a failed record is repeated with the same marks, and its references are known until then', async () => {
  const lost = new Error('lost')
  const { batch, writer, calls, answered } = aWriter(lost)
  answered(3)
  expect((await writer.write()).problems).toEqual([lost])
  expect([writer.size, writer.hasReference('r1'), batch.marked]).toEqual([3, true, 8])
  await writer.write()
  expect(calls.map(({ upTo }) => upTo)).toEqual([10, 10])
  expect([writer.size, writer.hasReference('r1'), batch.marked]).toEqual([0, false, 10])
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

test('a message refused for now that can no longer be given back is recorded as refused by the same call', async () => {
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
  expect([writer.size, batch.open]).toEqual([0, 6])
})

/** Timers that end when the test says so. */
function timers() {
  const calls: (() => void)[] = []
  return {
    later: (_: number, call: () => void): void => void calls.push(call),
    count: () => calls.length,
    end: (): void => {
      for (const call of calls.splice(0)) call()
    },
  }
}

const nothing = { unanswered: 0, leaving: 0 }
const unanswered = (count: number) => () => ({ unanswered: count, leaving: 0 })

describe('answers that wait to be stored', () => {
  test('wait for the answers expected when the first could be stored, and not for messages submitted meanwhile', () => {
    const gathering = new Gathering(steppingClock(), timers().later)
    const isWorthIt = (count: number) => gathering.isWorthIt(unanswered(count), () => undefined)
    expect(isWorthIt(3)).toBe(true)
    gathering.answered(2)
    expect(isWorthIt(50)).toBe(true)
    gathering.answered(1)
    expect(isWorthIt(49)).toBe(false)
    gathering.ended()
    expect(isWorthIt(49)).toBe(true)
  })

  test('wait once more if further messages may be submitted, but not beyond the same deadline', () => {
    const clock = steppingClock()
    const { later, count, end } = timers()
    const gathering = new Gathering(clock, later)
    let ends = 0
    const isWorthIt = (coming: typeof nothing) =>
      gathering.isWorthIt(
        () => coming,
        () => ends++,
      )
    expect(isWorthIt({ unanswered: 1, leaving: 50 })).toBe(true)
    gathering.answered(51)
    expect(isWorthIt({ unanswered: 0, leaving: 50 })).toBe(true)
    gathering.answered(49)
    expect(isWorthIt(nothing)).toBe(true)
    gathering.answered(1)
    expect(isWorthIt(nothing)).toBe(false)
    expect(count()).toBe(1)
    gathering.ended()
    // If the carrier gave the first expected answers and was too slow only for the later ones, the wait does not count
    // as in vain.
    isWorthIt({ unanswered: 0, leaving: 1 })
    gathering.answered(1)
    isWorthIt({ unanswered: 0, leaving: 1 })
    end()
    gathering.ended()
    expect([ends, isWorthIt({ unanswered: 1, leaving: 0 })]).toEqual([1, true])
  })

  test('do not wait if no answer is expected, or without timers', () => {
    expect(
      new Gathering(steppingClock(), timers().later).isWorthIt(
        () => nothing,
        () => undefined,
      ),
    ).toBe(false)
    expect(new Gathering(steppingClock(), undefined).isWorthIt(unanswered(3), () => undefined)).toBe(false)
  })

  test('a carrier that was waited for in vain is waited for less and less often', () => {
    const clock = steppingClock()
    const { later, end } = timers()
    const gathering = new Gathering(clock, later)
    let vain = 0
    const pauses = Array.from({ length: 8 }, () => {
      gathering.isWorthIt(unanswered(1), () => vain++)
      end()
      gathering.ended()
      let milliseconds = 0
      for (; !gathering.isWorthIt(unanswered(1), () => undefined); milliseconds++) clock.step(0.001)
      gathering.ended()
      return milliseconds
    })
    expect(vain).toBe(8)
    expect(pauses).toEqual([25, 50, 100, 200, 400, 800, 1000, 1000])
  })

  test('are not affected by a timer that ends after they were stored', () => {
    const { later, end } = timers()
    const gathering = new Gathering(steppingClock(), later)
    let vain = 0
    gathering.isWorthIt(unanswered(1), () => vain++)
    gathering.answered(1)
    gathering.ended()
    end()
    expect([vain, gathering.isWorthIt(unanswered(1), () => undefined)]).toEqual([0, true])
  })
})

/** Starts a dispatcher that has claimed three single messages, and a carrier that answers on request. */
async function started() {
  const world = await dispatchWorld()
  const carrier = scriptedCarrier({ outcomeOf: () => 'held' })
  const { later, count, end } = timers()
  const dispatcher = createDispatcher({ ...world.ports, clock: world.clock, later }, carrier, (problem) => {
    throw problem
  })
  const ids = await world.accept(3)
  expect(await dispatcher.work('single')).toBe('claimed')
  await until(() => carrier.submitted.length === 3)
  return { world, carrier, dispatcher, ids, timers: { count, end } }
}

test('the answer to a single message is stored after a moment although others get no answer', async () => {
  const { world, carrier, dispatcher, ids, timers } = await started()
  carrier.release('accepted', 1)
  for (let turn = 0; turn < 20; turn++) await nextTurn()
  expect([dispatcher.state().uncommitted, timers.count()]).toEqual([1, 1])
  timers.end()
  await until(() => dispatcher.state().uncommitted === 0)
  // After a wait in vain, answers are stored without waiting for the silent carrier.
  carrier.release('accepted', 1)
  await until(() => dispatcher.state().uncommitted === 0)
  expect(timers.count()).toBe(0)
  const status = await world.status(ids)
  expect(status.map((one) => (typeof one === 'string' ? one : one.code))).toEqual([100, 100, 'waiting'])
})

test('answers that arrive within a moment are stored together', async () => {
  const { world, carrier, dispatcher } = await started()
  let records = 0
  const { claimedBatches } = world.ports
  const record = claimedBatches.record.bind(claimedBatches)
  Object.assign(claimedBatches, {
    record: (...args: Parameters<typeof record>) => {
      records++
      return record(...args)
    },
  })
  carrier.release('accepted', 1)
  await nextTurn()
  carrier.release('accepted')
  await until(() => dispatcher.state().uncommitted + dispatcher.state().unanswered === 0)
  expect(records).toBe(1)
})

test('with a small window the answers to two marks are stored together', async () => {
  const world = await dispatchWorld()
  const carrier = scriptedCarrier({ outcomeOf: () => 'held', window: 10 })
  const dispatcher = createDispatcher(
    { ...world.ports, clock: world.clock, later: timers().later },
    carrier,
    (problem) => {
      throw problem
    },
  )
  const sizes: number[] = []
  const { claimedBatches } = world.ports
  const record = claimedBatches.record.bind(claimedBatches)
  Object.assign(claimedBatches, {
    record: (...args: Parameters<typeof record>) => {
      sizes.push(args[1].length)
      return record(...args)
    },
  })
  await world.accept(40)
  let claimed: Promise<unknown> = dispatcher.work('bulk')
  for (let answered = 0; answered < 40;) {
    claimed = claimed.then(() => dispatcher.work('bulk'))
    await until(() => carrier.unanswered.length > 0)
    answered += carrier.release('accepted')
    await nextTurn()
  }
  await until(() => dispatcher.state().uncommitted === 0)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(40)
  expect(Math.max(...sizes)).toBeGreaterThan(10)
})

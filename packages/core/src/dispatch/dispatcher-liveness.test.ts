import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { OUTCOME } from '@gateway/core/messages'
import { untilInTurns } from '@gateway/core/testing'
import { dispatchWorld, type Call, type Disturb, type DispatchWorld } from '../../testing/dispatch-world.ts'
import {
  endDispatchers,
  startDispatcher,
  type DispatcherOptions,
  type StartedDispatcher,
} from '../../testing/start-dispatcher.ts'
import { dispatcherDefaults } from './dispatcher-settings.ts'

const seed = Number(process.env['DISPATCHER_SEED'] ?? Date.now() % 1_000_000)
const numRuns = Number(process.env['DISPATCHER_RUNS'] ?? 25)

afterEach(endDispatchers)

type Trouble = 'fails' | 'fails after its work' | 'dead'

interface Life {
  readonly sends: readonly number[]
  readonly inDoubtMax: number
  readonly sliceMax: number
  readonly window: number
  /**
   * Faults. Each begins with the nth call overall and affects this call and later calls of the same name, `times` calls
   * in total.
   */
  readonly troubles: readonly { readonly nth: number; readonly times: number; readonly trouble: Trouble }[]
  /** Answers of the slow carrier per fiftieth of a second. */
  readonly answers: number
  /** Fiftieths of a second after which the faults stop. */
  readonly troubledTicks: number
}

const lives: fc.Arbitrary<Life> = fc.record({
  sends: fc.array(fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 11, max: 90 })), {
    minLength: 1,
    maxLength: 12,
  }),
  inDoubtMax: fc.integer({ min: 1, max: 60 }),
  sliceMax: fc.integer({ min: 1, max: 60 }),
  window: fc.integer({ min: 1, max: 80 }),
  troubles: fc.array(
    fc.record({
      nth: fc.integer({ min: 1, max: 150 }),
      times: fc.integer({ min: 1, max: 4 }),
      trouble: fc.constantFrom<Trouble>('fails', 'fails', 'fails after its work', 'fails after its work', 'dead'),
    }),
    { maxLength: 25 },
  ),
  answers: fc.integer({ min: 1, max: 3 }),
  troubledTicks: fc.integer({ min: 5, max: 80 }),
})

/**
 * Returns a function that decides for each call whether it fails or finds its dispatcher declared dead, and `end`,
 * which stops the faults.
 */
function disturbing(world: DispatchWorld, { troubles }: Life): { disturb: Disturb; readonly end: () => void } {
  const die = async () => {
    world.clock.step(dispatcherDefaults.leaseSeconds + 1)
    await world.ports.claimedBatches.recover()
  }
  const repeated = new Map<Call, { times: number; trouble: Trouble }>()
  let [calls, isOver] = [0, false]
  const disturb: Disturb = (name) => {
    const next = troubles.find(({ nth }) => nth === calls + 1)
    calls++
    if (isOver) return undefined
    if (next !== undefined) repeated.set(name, { ...next })
    const now = repeated.get(name)
    if (now === undefined || now.times-- <= 0) return undefined
    return now.trouble === 'dead' ? die : now.trouble
  }
  return { disturb, end: () => void (isOver = true) }
}

async function assertLives(life: Life): Promise<void> {
  const world = await dispatchWorld()
  const { disturb, end } = disturbing(world, life)
  const settings = { inDoubtMax: life.inDoubtMax, sliceMax: life.sliceMax }
  const one = startDispatcher(world, { settings, window: life.window, disturb, outcomeOf: () => 'held' })
  const tick = async (): Promise<void> => {
    world.clock.step(0.02)
    one.carrier.release('accepted', life.answers)
    for (let turn = 0; turn < 3; turn++) await nextTurn()
  }
  try {
    for (const count of life.sends) await world.accept(count)
    for (let ticks = 0; ticks < life.troubledTicks; ticks++) await tick()
    end()
    await assertLiveness(world, one, tick)
  } finally {
    one.kill()
  }
  if (world.violations.length > 0) throw new Error(world.violations.join('; '))
}

/** Asserts that a message moves within every five seconds until all have ended. */
async function assertLiveness(
  world: DispatchWorld,
  { carrier, dispatcher }: StartedDispatcher,
  tick: () => Promise<void>,
): Promise<void> {
  let waiting = world.waiting()
  for (let ticks = 0; waiting > 0; ticks++) {
    if (ticks === 250) {
      const facts = `${waiting} messages wait, ${carrier.unanswered.length} of them for the carrier`
      throw new Error(`no message has moved for 5 s: ${facts}; ${JSON.stringify(dispatcher.state())}`)
    }
    await tick()
    const now = world.waiting()
    if (now < waiting) [waiting, ticks] = [now, 0]
  }
  for (const { id, decision } of world.store.messages.values()) {
    if (decision?.code !== OUTCOME.sent && decision?.code !== OUTCOME.unknown) {
      throw new Error(`message ${id} ended as ${decision?.code}`)
    }
  }
}

/**
 * Life in which the answer that a dispatcher was declared dead is lost, so that the dispatcher still submits a message
 * that it has marked. The message is SENT 106 by then and is submitted once.
 */
const deathUnknown: Life = {
  sends: [11, 11],
  inDoubtMax: 10,
  sliceMax: 2,
  window: 5,
  troubles: [
    { nth: 71, times: 4, trouble: 'fails after its work' },
    { nth: 64, times: 2, trouble: 'dead' },
  ],
  answers: 1,
  troubledTicks: 9,
}

test(`after any failures, once the store works every due message is submitted once, within the limit (seed ${seed})`, async () => {
  await fc.assert(fc.asyncProperty(lives, assertLives), {
    seed,
    numRuns,
    examples: [[deathUnknown]],
    endOnFailure: false,
  })
}, 120_000)

describe('a stall is reported', () => {
  /** Lets time pass in steps of half a second, calling the dispatcher's periodic methods in each. */
  async function pass(world: DispatchWorld, seconds: number): Promise<void> {
    for (let halves = 0; halves < seconds * 2; halves++) {
      world.clock.step(0.5)
      for (let turn = 0; turn < 4; turn++) await nextTurn()
    }
  }

  test.each<[string, Disturb | 'hangs', readonly string[]]>([
    ['claims are not answered', 'hangs', ['single', 'bulk']],
    ['marks fail', (call) => (call === 'mark' ? 'fails' : undefined), ['bulk']],
    ['records fail', (call) => (call === 'record' ? 'fails' : undefined), ['bulk', 'outcomes']],
    ['messages cannot be settled', (call) => (call === 'settle' ? 'fails' : undefined), ['bulk', 'outcomes']],
    [
      'nothing can be given back',
      (call, nth) => (call === 'disown' || (call === 'claim' && nth < 3) ? 'fails' : undefined),
      ['single', 'bulk'],
    ],
  ])('after ten seconds in which %s, until work moves again', async (_, disturb, stalled) => {
    const world = await dispatchWorld()
    await world.accept(300)
    for (const { number } of [...world.store.messages.values()].slice(0, 30)) {
      await world.ports.suppressions.add({ scope: world.account.id, number, kind: 'opt-out', since: world.clock.now() })
    }
    let [isTroubled, release] = [true, (): void => undefined]
    const gate = new Promise<void>((resolve) => (release = resolve))
    const troubled: Disturb = (call, nth) => {
      if (!isTroubled) return undefined
      if (disturb === 'hangs') return call === 'claim' ? () => gate : undefined
      return disturb(call, nth)
    }
    const { dispatcher, carrier } = startDispatcher(world, { disturb: troubled })
    await pass(world, 9)
    expect(dispatcher.state().stalled).toEqual([])
    await pass(world, 12)
    expect(dispatcher.state().stalled).toEqual(stalled)
    isTroubled = false
    release()
    await untilInTurns(() => world.waiting() === 0)
    await pass(world, 1)
    expect(dispatcher.state().stalled).toEqual([])
    expect(carrier.submitted).toHaveLength(270)
  })

  test.each<[string, Disturb, DispatcherOptions]>([
    ['the carrier answers nothing', () => undefined, { outcomeOf: () => 'held' }],
    ['the carrier has a window of one and answers nothing', () => undefined, { outcomeOf: () => 'held', window: 1 }],
    ['the queue is empty', () => undefined, {}],
    ['the store is away', (_, nth) => (nth > 1 ? 'fails' : undefined), {}],
  ])('but not while %s', async (reason, disturb, options) => {
    const world = await dispatchWorld()
    const { dispatcher } = startDispatcher(world, { ...options, disturb })
    await world.accept(300)
    await world.accept(1)
    for (let seconds = 0; seconds < 60; seconds++) {
      await pass(world, 1)
      expect([reason, seconds, dispatcher.state().stalled]).toEqual([reason, seconds, []])
    }
  })

  test('but not while a slow carrier answers one message every two seconds', async () => {
    const world = await dispatchWorld()
    const { dispatcher, carrier } = startDispatcher(world, { outcomeOf: () => 'held', window: 50 })
    await world.accept(300)
    for (let answers = 0; answers < 60; answers++) {
      await pass(world, 2)
      carrier.release('accepted', 1)
      expect(dispatcher.state().stalled).toEqual([])
    }
  })

  test('but not while it drains', async () => {
    const world = await dispatchWorld()
    let release = (): void => undefined
    const gate = new Promise<void>((resolve) => (release = resolve))
    const { dispatcher } = startDispatcher(world, { disturb: (call) => (call === 'record' ? () => gate : undefined) })
    await world.accept(300)
    await untilInTurns(() => dispatcher.state().uncommitted > 0)
    const drained = dispatcher.drain(new Promise(() => undefined))
    await pass(world, 30)
    expect(dispatcher.state().stalled).toEqual([])
    release()
    await drained
  })
})

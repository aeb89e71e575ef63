import { setImmediate as nextTurn } from 'node:timers/promises'
import { OUTCOME, type MessageId } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import { untilInTurns, type ScriptedOutcome } from '@gateway/core/testing'
import { dispatchWorld, type Call, type Disturb, type DispatchWorld } from '../../testing/dispatch-world.ts'
import { endDispatchers, startDispatcher as start } from '../../testing/start-dispatcher.ts'
import { dispatcherDefaults } from './dispatcher-settings.ts'

afterEach(endDispatchers)

const settings = { inDoubtMax: 20, sliceMax: 40 }

/** Outcomes by the last digit of the message's id, so that every outcome occurs. */
const outcomes: readonly ScriptedOutcome[] = [0, 0, 'refused', 0, 103, 'unknown', 0, 'refused-for-now', 0, 0]
const outcomeOf = ({ id }: { id: MessageId }, attempt: number): ScriptedOutcome => {
  const scripted = outcomes[id % 10] ?? 0
  return scripted === 'refused-for-now' && attempt > 2 ? OUTCOME.delivered : scripted
}

/** Accepts single messages and bulk, and opts some recipients out afterwards. */
async function someMessages(world: DispatchWorld): Promise<void> {
  for (let i = 0; i < 10; i++) await world.accept(1)
  await world.accept(100)
  await world.accept(9)
  for (const { id, number } of world.store.messages.values()) {
    if (id % 11 === 0) {
      await world.ports.suppressions.add({ scope: world.account.id, number, kind: 'opt-out', since: instant(0) })
    }
  }
}

const codes = (world: DispatchWorld) => [...world.store.messages.values()].map(({ decision }) => decision?.code)

/** Advances the clock and does the periodic work until all messages have ended. */
async function finish(world: DispatchWorld): Promise<void> {
  await untilInTurns(async () => {
    world.clock.step(1)
    await world.ports.claimedBatches.promote(1000)
    await world.ports.claimedBatches.recover()
    await world.ports.deliveryReceipts.match(1000)
    return world.waiting() === 0
  })
  await untilInTurns(() =>
    world.assertTidy().then(
      () => true,
      () => false,
    ),
  )
}

/**
 * Asserts that every message has ended, and that at most `unknownMax` are unknown apart from those that the carrier
 * made unknown.
 */
function assertEnds(world: DispatchWorld, unknownMax: number): void {
  for (const row of world.store.messages.values()) {
    const scripted = outcomes[row.id % 10]
    const { code } = row.decision ?? {}
    if (row.id % 11 === 0) expect([OUTCOME.optedOut, OUTCOME.unknown]).toContain(code)
    else if (scripted === 'unknown') expect(code).toBe(OUTCOME.unknown)
    else if (scripted === 'refused') expect([OUTCOME.refused, OUTCOME.unknown]).toContain(code)
    else if (scripted === 103) expect([OUTCOME.undeliverable, OUTCOME.unknown]).toContain(code)
    else if (scripted === 'refused-for-now')
      expect([OUTCOME.delivered, OUTCOME.unknown, OUTCOME.refused]).toContain(code)
    else expect([OUTCOME.delivered, OUTCOME.unknown]).toContain(code)
  }
  const unknown = [...world.store.messages.values()].filter(
    ({ id, decision }) => decision?.code === OUTCOME.unknown && (id % 11 === 0 || outcomes[id % 10] !== 'unknown'),
  )
  expect(unknown.length).toBeLessThanOrEqual(unknownMax)
}

const calls: readonly Call[] = [
  'register',
  'claim',
  'disown',
  'mark',
  'record',
  'settle',
  'postpone',
  'extend',
  'apply',
]
const kinds = ['fails', 'fails after its work'] as const

/** Makes claims fail if `disown` is to be disturbed, because only failed claims are disowned. */
const failsClaims = (disturbed: Call, name: Call, nth: number) =>
  disturbed === 'disown' && name === 'claim' && nth % 3 === 2 ? kinds[nth % 2] : undefined

describe('a call that fails loses nothing and submits nothing twice', () => {
  const table = calls.flatMap((call) => kinds.flatMap((kind) => [1, 2, 5].map((times) => [call, kind, times] as const)))
  test.each(table)('%s %s, %i times from its second on', async (call, kind, times) => {
    const world = await dispatchWorld()
    await someMessages(world)
    const first = call === 'register' ? 1 : 2
    const disturb: Disturb = (name, nth) => {
      if (name === call && nth >= first && nth < first + times) return kind
      return failsClaims(call, name, nth)
    }
    start(world, { settings, disturb, outcomeOf, window: 30 })
    await finish(world)
    assertEnds(world, 0)
  })

  test('an unreachable store delays everything and loses nothing', async () => {
    const world = await dispatchWorld()
    await someMessages(world)
    let isAway = false
    const { problems } = start(world, { settings, disturb: () => (isAway ? 'fails' : undefined), outcomeOf })
    await untilInTurns(() => world.waiting() < 100)
    isAway = true
    await untilInTurns(() => problems.length > 5)
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    isAway = false
    await finish(world)
    assertEnds(world, settings.inDoubtMax)
  })

  test('an outcome that can never be stored does not prevent others from being stored', async () => {
    const world = await dispatchWorld()
    await someMessages(world)
    start(world, {
      settings,
      disturb: (call) => (call === 'postpone' || call === 'settle' ? 'fails' : undefined),
      outcomeOf,
    })
    await untilInTurns(() => codes(world).filter((code) => code === OUTCOME.delivered).length > 10)
  })
})

describe('a dispatcher that is declared dead submits nothing more in that epoch, and continues in a new one', () => {
  test.each(
    calls
      .filter((call) => call !== 'register' && call !== 'apply')
      // Most marks are attached to a record, so there are fewer separate `mark` calls. If the window is as large as the
      // in-doubt limit, all marks are attached.
      .flatMap((call) => (call === 'mark' ? [1, 2] : [1, 2, 3]).map((nth) => [call, nth] as const)),
  )('when it next calls %s (%i)', async (call, fatal) => {
    const world = await dispatchWorld()
    await someMessages(world)
    let isDead = false
    const die = async () => {
      isDead = true
      world.clock.step(dispatcherDefaults.leaseSeconds + 1)
      await world.ports.claimedBatches.recover()
    }
    start(world, {
      settings,
      beats: call === 'extend',
      disturb: (name, nth) => (name === call && nth === fatal ? die : failsClaims(call, name, nth)),
      outcomeOf,
      window: call === 'mark' ? 5 : 30,
    })
    await finish(world)
    expect(isDead).toBe(true)
    // Late outcomes of the last epoch correct a 106, except for messages that were marked and never submitted.
    assertEnds(world, settings.inDoubtMax)
  })
})

test('a killed dispatcher leaves at most the limit unknown, another sends the rest, and receipts correct the unknown ones', async () => {
  const world = await dispatchWorld()
  for (let i = 0; i < 5; i++) await world.accept(40)
  const killed = start(world, { settings, window: 30 })
  await untilInTurns(() => killed.carrier.submitted.length > 60)
  killed.kill()
  world.clock.step(dispatcherDefaults.leaseSeconds + 1)
  const { unknown } = await world.ports.claimedBatches.recover()
  expect(unknown).toBeLessThanOrEqual(settings.inDoubtMax)
  const next = start(world, { settings, id: 'scripted' })
  await finish(world)
  expect(killed.carrier.submitted.length + next.carrier.submitted.length).toBeGreaterThanOrEqual(200 - unknown)
  expect(codes(world).filter((code) => code === OUTCOME.unknown).length).toBeLessThanOrEqual(unknown)
})

describe('a carrier that is slower than the queue', () => {
  /**
   * Creates a world with a send of 900 messages and a carrier that answers 50 a second. `disturb` decides which calls
   * fail afterwards.
   */
  async function slowWorld(disturb: (call: Call) => ReturnType<Disturb>) {
    const world = await dispatchWorld()
    let isTroubled = false
    const { carrier, dispatcher } = start(world, {
      disturb: (call) => (isTroubled ? disturb(call) : undefined),
      outcomeOf: () => 'held',
    })
    const answers = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        world.clock.step(0.02)
        carrier.release(OUTCOME.delivered, 1)
        await nextTurn()
      }
    }
    const ids = await world.accept(900)
    await untilInTurns(() => carrier.unanswered.length > 100)
    await answers(200)
    await untilInTurns(() => dispatcher.state().ahead > 0)
    return { world, carrier, dispatcher, ids, answers, trouble: (is: boolean) => void (isTroubled = is) }
  }

  const failing: readonly (readonly Call[])[] = [
    ['claim'],
    ['claim', 'mark'],
    ['claim', 'record'],
    ['claim', 'disown'],
    ['claim', 'mark', 'record', 'register', 'disown', 'extend'],
  ]
  test.each(failing.flatMap((some) => kinds.map((kind) => [some, kind] as const)))(
    'a time in which %j %s blocks neither lane for good',
    async (some, kind) => {
      const { world, carrier, ids, answers, trouble } = await slowWorld((call) =>
        some.includes(call) ? kind : undefined,
      )
      trouble(true)
      await answers(10)
      trouble(false)
      const single = await world.accept(1)
      await untilInTurns(async () => {
        await answers(20)
        return new Set(carrier.submitted.map(({ id }) => id)).size === ids.length + single.length
      })
      await untilInTurns(async () => {
        await answers(20)
        return codes(world).every((code) => code === OUTCOME.delivered)
      })
    },
  )
})

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Carrier, DeliveryReceipt } from '@gateway/core/dispatch'
import { OUTCOME, type MessageId } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import { chanceOf, untilInTurns, type Chance, type ScriptedOutcome } from '@gateway/core/testing'
import { dispatchWorld, type Disturb, type DispatchWorld } from '../../testing/dispatch-world.ts'
import { endDispatchers, startDispatcher, type StartedDispatcher } from '../../testing/start-dispatcher.ts'
import { dispatcherDefaults } from './dispatcher-settings.ts'

afterEach(endDispatchers)

const settings = { inDoubtMax: 12, sliceMax: 25 }
const lives = Number(process.env['DISPATCHER_LIVES'] ?? 25)

const answers: readonly Exclude<ScriptedOutcome, 'held'>[] = [
  0,
  0,
  0,
  103,
  'accepted',
  'refused',
  'refused-for-now',
  'unknown',
]

/**
 * Two dispatchers, which are killed, paused and restarted at random, with a store and carriers that fail at random.
 */
function chaos(world: DispatchWorld, chance: Chance, failures: number) {
  /** Final outcome of each message at the carriers. */
  const ends = new Map<MessageId, Exclude<ScriptedOutcome, 'held'>>()
  /**
   * Carrier that decided the outcome. A carrier that refused the message for now sends no receipt for it, whatever
   * another carrier does.
   */
  const deciders = new Map<MessageId, Carrier>()
  /** Receipts lost with a carrier before they were acknowledged. */
  const lost: (() => readonly DeliveryReceipt[])[] = []
  let isQuiet = false

  const decide = (carrier: Carrier, id: MessageId, answer: (typeof answers)[number]): void => {
    ends.set(id, answer)
    deciders.set(id, carrier)
  }
  const outcomeOf = (carrier: Carrier, id: MessageId): ScriptedOutcome => {
    if (!isQuiet && chance.happens(0.4)) return 'held'
    const answer = isQuiet ? OUTCOME.delivered : chance.one(answers)
    decide(carrier, id, answer)
    return answer
  }
  const disturb: Disturb = () => {
    if (isQuiet || !chance.happens(failures)) return undefined
    return chance.happens(0.5) ? 'fails' : 'fails after its work'
  }
  const begin = (): StartedDispatcher => {
    const one: StartedDispatcher = startDispatcher(world, {
      ...{ settings, window: 20, disturb },
      outcomeOf: ({ id }) => outcomeOf(one.carrier, id),
    })
    return one
  }

  async function kill(one: StartedDispatcher): Promise<void> {
    const { carrier } = one
    const answered = carrier.submitted.filter((message) => !carrier.unanswered.includes(message))
    lost.push(() =>
      answered.flatMap(({ id }) => {
        const end = ends.get(id)
        return typeof end === 'number' && deciders.get(id) === carrier ? [carrier.receiptFor(id, end)] : []
      }),
    )
    one.kill()
    await carrier.close(Promise.resolve())
  }

  let alive = [begin(), begin()]
  const steps: readonly (() => unknown)[] = [
    () => world.accept(1 + chance.below(3)),
    () => world.accept(11 + chance.below(40)),
    () => {
      const { carrier } = chance.one(alive)
      const count = chance.below(10)
      const answer = chance.one(answers)
      for (const { id } of carrier.unanswered.slice(0, count)) decide(carrier, id, answer)
      carrier.release(answer, count)
    },
    async () => {
      if (!chance.happens(0.3)) return
      const one = chance.one(alive)
      alive = alive.filter((other) => other !== one)
      await kill(one)
      alive.push(begin())
    },
    () => {
      if (chance.happens(0.3)) world.clock.step(dispatcherDefaults.leaseSeconds + 1)
    },
    () => world.ports.claimedBatches.recover(),
    () => void world.clock.step(1),
    () => world.ports.claimedBatches.promote(10),
    () => world.ports.deliveryReceipts.match(10),
    async () => {
      const row = chance.one([...world.store.messages.values()])
      const since = instant(0)
      await world.ports.suppressions.add({ scope: world.account.id, number: row.number, kind: 'opt-out', since })
    },
  ]

  return {
    ends,
    async step() {
      await chance.one(steps)()
      for (let turns = chance.between(0, 6); turns > 0; turns--) await nextTurn()
    },
    /** Ends all faults, so that every message ends and every receipt finds its message. */
    async heal() {
      isQuiet = true
      await Promise.all(alive.map(kill))
      const last = begin()
      await untilInTurns(async () => {
        world.clock.step(1)
        await world.ports.claimedBatches.promote(1000)
        await world.ports.claimedBatches.recover()
        return world.waiting() === 0
      })
      await untilInTurns(() =>
        world.assertTidy().then(
          () => true,
          () => false,
        ),
      )
      await last.carrier.settled()
      await last.carrier.deliver(lost.flatMap((receipts) => receipts()))
      await world.ports.deliveryReceipts.match(10_000)
      world.clock.step(61)
      await world.ports.deliveryReceipts.adopt(60)
      await world.ports.deliveryReceipts.match(10_000)
    },
  }
}

test.each(Array.from({ length: lives }, (_, i) => [i + 1]))(
  'with random failures and deaths each message has one true outcome and is accepted at most once (seed %i)',
  async (seed) => {
    const world = await dispatchWorld()
    const chance = chanceOf(seed)
    const life = chaos(world, chance, chance.between(0, 0.3))
    await world.accept(20)
    for (let i = 0; i < 150; i++) await life.step()
    await life.heal()

    for (const { id, decision } of world.store.messages.values()) {
      const end = life.ends.get(id)
      const code = decision?.code
      // The carrier never decided about this message: it was opted out before it was submitted, or its outcome is
      // unknown.
      if (end === undefined) expect([OUTCOME.optedOut, OUTCOME.unknown]).toContain(code)
      else if (typeof end === 'number') expect([id, code]).toEqual([id, end])
      else if (end === 'accepted') expect([OUTCOME.sent, OUTCOME.unknown]).toContain(code)
      else if (end === 'refused') expect([OUTCOME.refused, OUTCOME.unknown]).toContain(code)
      else if (end === 'unknown') expect(code).toBe(OUTCOME.unknown)
      else expect([OUTCOME.refused, OUTCOME.optedOut, OUTCOME.unknown]).toContain(code)
    }
  },
)

import { strict as assert } from 'node:assert'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { aCarrierId, anOrder, aSender, numbers, untilInTurns, type ScriptedOutcome } from '@gateway/core/testing'
import { dispatchWorld, type DispatchWorld } from '../../testing/dispatch-world.ts'
import { endDispatchers, startDispatcher as start } from '../../testing/start-dispatcher.ts'
import type { MessageId } from '../messages/message-id.ts'
import { OUTCOME } from '../messages/status-code.ts'
import { secondsAfter } from '../time/instant.ts'
import { dispatcherDefaults, type DispatcherSettings } from './dispatcher-settings.ts'

const never = new Promise<never>(() => undefined)

afterEach(endDispatchers)

const codesOf = async (world: DispatchWorld, ids: readonly MessageId[]) =>
  (await world.status(ids)).map((status) => (typeof status === 'string' ? status : status.code))

const allAre = async (world: DispatchWorld, ids: readonly MessageId[], code: number) =>
  (await codesOf(world, ids)).every((found) => found === code)

const small: Partial<DispatcherSettings> = { inDoubtMax: 20, sliceMax: 30 }

/** Advances the clock by `seconds` and does the periodic work that is due. */
async function pass(world: DispatchWorld, seconds: number): Promise<void> {
  world.clock.step(seconds)
  await world.ports.claimedBatches.promote(1000)
}

test('every waiting message is submitted once, recorded and gets its receipt, and none stays in flight', async () => {
  const world = await dispatchWorld()
  const { carrier, problems } = start(world, { settings: small, window: 50 })
  const ids = (await Promise.all([world.accept(300), world.accept(1), world.accept(7), world.accept(11)])).flat()
  await untilInTurns(() => allAre(world, ids, OUTCOME.delivered))
  await untilInTurns(() => world.assertTidy().then(() => true))
  expect(carrier.submitted).toHaveLength(319)
  expect(problems).toEqual([])
})

test.each([55, -55])(
  'a dispatcher whose clock is wrong by %d hours ends no message that waits (P-18)',
  async (hours) => {
    const world = await dispatchWorld()
    const ids = [...(await world.accept(300)), ...(await world.accept(5))]
    start(world, { clock: { now: () => secondsAfter(world.clock.now(), hours * 3600) } })
    await untilInTurns(() => allAre(world, ids, OUTCOME.delivered))
    await untilInTurns(() => world.assertTidy().then(() => true))
  },
)

test.each([0, 55])(
  'waiting times are measured by the clock of the store, even if the dispatcher clock is %d hours wrong',
  async (hours) => {
    const world = await dispatchWorld()
    const ids = await world.accept(3)
    world.clock.step(20)
    const { dispatcher } = start(world, { clock: { now: () => secondsAfter(world.clock.now(), hours * 3600) } })
    await untilInTurns(() => allAre(world, ids, OUTCOME.delivered))
    const { bounds, counts, sum } = dispatcher.waits()
    expect(sum).toBeCloseTo(60, 0)
    expect(counts[bounds.indexOf(30)]).toBe(3)
  },
)

test('messages of a send are submitted in the order of the request', async () => {
  const world = await dispatchWorld()
  const { carrier } = start(world, { settings: small })
  const ids = await world.accept(200)
  await untilInTurns(() => allAre(world, ids, OUTCOME.delivered))
  expect(carrier.submitted.map(({ id }) => id)).toEqual(ids)
})

test.each<[ScriptedOutcome, number]>([
  ['accepted', OUTCOME.sent],
  ['refused', OUTCOME.refused],
  ['unknown', OUTCOME.unknown],
  [OUTCOME.undeliverable, OUTCOME.undeliverable],
  [OUTCOME.underWay, OUTCOME.underWay],
])('a hand-over that ends in %s is recorded as %i', async (scripted, code) => {
  const world = await dispatchWorld()
  start(world, { outcomeOf: () => scripted })
  const ids = [...(await world.accept(3)), ...(await world.accept(30))]
  await untilInTurns(() => allAre(world, ids, code))
  await untilInTurns(() => world.assertTidy().then(() => true))
})

describe('limits', () => {
  test('a carrier that does not answer gets no more messages than the window and the in-doubt limit allow', async () => {
    for (const [inDoubtMax, window] of [
      [20, 8],
      [8, 20],
      [1, 1],
      [2, 100],
      [100, 2],
    ] as const) {
      const world = await dispatchWorld()
      const { carrier, dispatcher } = start(world, {
        settings: { inDoubtMax, sliceMax: 30 },
        window,
        outcomeOf: () => 'held',
      })
      const ids = await world.accept(200)
      const most = Math.max(1, Math.floor(Math.min(inDoubtMax, window) * 0.75))
      await untilInTurns(() => carrier.unanswered.length === most)
      for (let turn = 0; turn < 50; turn++) await nextTurn()
      expect(carrier.submitted).toHaveLength(most)
      expect(dispatcher.state().unanswered).toBe(most)
      // As answers arrive, room in the window becomes free, so that all messages pass through the same small window.
      for (let turn = 0; turn < 20_000 && !(await allAre(world, ids, OUTCOME.delivered)); turn++) {
        carrier.release(OUTCOME.delivered, 3)
        await nextTurn()
      }
      expect(await allAre(world, ids, OUTCOME.delivered)).toBe(true)
      // While answers are quick, no part of the window is reserved for single messages.
      expect(carrier.unansweredMost).toBeLessThanOrEqual(Math.min(window, Math.max(1, Math.floor(inDoubtMax * 0.875))))
    }
  })

  test('answers that the carrier has read but not reported yet do not widen the window', async () => {
    const world = await dispatchWorld()
    const { carrier, dispatcher } = start(world, { window: 20, outcomeOf: () => 'held', room: () => 20 })
    await Promise.all(Array.from({ length: 10 }, () => world.accept(10)))
    await untilInTurns(() => carrier.unanswered.length === 20)
    for (let turn = 0; turn < 50; turn++) await nextTurn()
    expect(carrier.submitted).toHaveLength(20)
    expect(dispatcher.state().inDoubt).toBe(20)
  })

  test('bulk that fills its share of the window and the in-doubt limit does not block the single lane', async () => {
    const world = await dispatchWorld()
    const { carrier } = start(world, { settings: small, window: 20, outcomeOf: () => 'held' })
    await world.accept(500)
    await untilInTurns(() => carrier.unanswered.length === 15)
    const ids = await world.accept(2)
    await untilInTurns(() => carrier.submitted.length === 17)
    expect(carrier.submitted.slice(-2).map(({ id }) => id)).toEqual(ids)
  })

  test('a message without an answer does not block bulk, however slow the carrier was before', async () => {
    const world = await dispatchWorld()
    const [lost] = await world.accept(1)
    const { carrier } = start(world, { window: 200, outcomeOf: ({ id }) => (id === lost ? 'held' : 'accepted') })
    await untilInTurns(() => carrier.unanswered.length === 1)
    // The carrier answers once in ten seconds.
    for (const seconds of [0, 10]) {
      world.clock.step(seconds)
      const [id] = await world.accept(1)
      await untilInTurns(() => carrier.submitted.some((one) => one.id === id))
      await nextTurn()
    }
    await world.accept(300)
    await untilInTurns(() => carrier.submitted.length === 303)
    expect(carrier.unanswered.map(({ id }) => id)).toEqual([lost])
  })

  test('a backlog of singles does not stop bulk for good', async () => {
    const world = await dispatchWorld()
    const { carrier } = start(world, { settings: small, window: 20 })
    const singles = (await Promise.all(Array.from({ length: 300 }, () => world.accept(1)))).flat()
    const bulk = await world.accept(100)
    await untilInTurns(() => allAre(world, [...singles, ...bulk], OUTCOME.delivered))
    expect(carrier.unansweredMost).toBeLessThanOrEqual(20)
  })
})

test('no message is submitted before its mark is committed', async () => {
  const world = await dispatchWorld()
  let release = (): void => undefined
  const gate = new Promise<void>((resolve) => (release = resolve))
  let marks = 0
  const { carrier } = start(world, {
    settings: { inDoubtMax: 20, sliceMax: 200 },
    disturb: (call) => (call === 'mark' ? () => (marks++, gate) : undefined),
  })
  const ids = await world.accept(100)
  await untilInTurns(() => marks > 0)
  const marked = () =>
    [...world.store.dispatchers.values()].flatMap(({ batches }) => [...batches.values()][0]?.marked)[0]
  for (let turn = 0; turn < 50; turn++) await nextTurn()
  expect(carrier.submitted).toHaveLength(marked() ?? NaN)
  release()
  await untilInTurns(() => allAre(world, ids, OUTCOME.delivered))
})

describe('messages that end without being submitted', () => {
  const suppress = async (world: DispatchWorld, from: number, to: number) => {
    for (const { number } of [...world.store.messages.values()].slice(from, to)) {
      await world.ports.suppressions.add({
        scope: world.account.id,
        number,
        kind: 'opt-out',
        since: world.clock.now(),
      })
    }
  }

  test.each([
    ['at the front', 0, 70],
    ['in the middle', 10, 90],
    ['at the end', 20, 100],
    ['all', 0, 100],
  ])('are settled and never submitted: %s', async (_, from, to) => {
    const world = await dispatchWorld()
    const ids = await world.accept(100)
    await suppress(world, from, to)
    const { carrier, problems } = start(world, { settings: { inDoubtMax: 20, sliceMax: 100 } })
    const [remaining, stopped] = [[...ids.slice(0, from), ...ids.slice(to)], ids.slice(from, to)]
    await untilInTurns(() => allAre(world, remaining, OUTCOME.delivered))
    await untilInTurns(() => allAre(world, stopped, OUTCOME.optedOut))
    await untilInTurns(() => world.assertTidy().then(() => true))
    expect(carrier.submitted.map(({ id }) => id)).toEqual(remaining)
    expect(problems).toEqual([])
    // There is only one epoch, so the dispatcher did not mistake a batch that ended by itself for one taken over by
    // others.
    expect(world.store.dispatchers.size).toBe(1)
  })

  test('are settled in the single lane too, even if the next claim waits for room', async () => {
    const world = await dispatchWorld()
    const ids = (await Promise.all(Array.from({ length: 20 }, () => world.accept(5)))).flat()
    await suppress(world, 30, 77)
    start(world, { settings: small })
    await untilInTurns(async () => (await codesOf(world, ids)).every((code) => code !== 'waiting'))
    expect((await codesOf(world, ids)).filter((code) => code === OUTCOME.optedOut)).toHaveLength(47)
  })

  test('end with the code for a locked account, a blacklisted number or an expired validity, and are refunded', async () => {
    const world = await dispatchWorld()
    const before = await world.ports.ledger.balance(world.account.id)
    const old = await world.acceptOne()
    world.clock.step(dispatcherDefaults.validitySeconds + 1)
    const black = await world.acceptOne()
    const number = world.store.messages.get(black)?.number ?? assert.fail('it is not there')
    await world.ports.suppressions.add({ scope: 'everybody', number, kind: 'blacklist', since: world.clock.now() })
    const first = start(world)
    await untilInTurns(() => world.waiting() === 0)
    expect(world.store.messages.get(old)?.decision?.code).toBe(OUTCOME.expired)
    expect(await codesOf(world, [black])).toEqual([OUTCOME.blacklisted])

    // No message is claimed between accepting and locking, because the first dispatcher has ended and the second has
    // not started.
    await first.dispatcher.drain(never)
    const locked = await world.acceptOne()
    await world.ports.accounts.setLocked(world.account.id, true)
    const second = start(world)
    await untilInTurns(() => world.waiting() === 0)
    expect(await codesOf(world, [locked])).toEqual([OUTCOME.accountLocked])
    expect([...first.carrier.submitted, ...second.carrier.submitted]).toEqual([])
    expect(await world.ports.ledger.balance(world.account.id)).toBe(before)
  })

  test('with a sender that the carrier does not allow, its own is used, or the message is refused and refunded', async () => {
    const world = await dispatchWorld()
    const [replaced, refused] = [aSender('Replaced'), aSender('Refused')]
    for (const [sender, otherwise] of [
      [replaced, 'replace'],
      [refused, 'refuse'],
    ] as const) {
      const says = { destinations: [], defaultFor: [], carriers: [aCarrierId('another')] }
      await world.ports.senders.allow({ account: world.account.id, sender, ...says, otherwise })
    }
    const before = await world.ports.ledger.balance(world.account.id)
    const { body, due, to } = anOrder(world.account.id, { to: numbers(2, '09') }).texts[0] ?? assert.fail()
    const order = {
      ...anOrder(world.account.id),
      texts: [{ body, due, to: to.map((one, i) => ({ ...one, from: i === 0 ? replaced : refused })) }],
    }
    const accepted = await world.ports.messages.accept(order)
    const ids = typeof accepted === 'object' ? accepted.results.flat().map(Number) : []
    const { carrier } = start(world)
    await untilInTurns(() => world.waiting() === 0)
    expect(carrier.submitted.map(({ id, from }) => [id, from])).toEqual([[ids[0], undefined]])
    expect(ids.map((id) => world.store.messages.get(id as MessageId)?.decision?.code)).toEqual([
      OUTCOME.delivered,
      OUTCOME.refused,
    ])
    expect(await world.ports.ledger.balance(world.account.id)).toBe((before ?? NaN) - 10)
  })

  test('end as 101 if they expire by the clock of the store before their turn; the others are submitted with their remaining validity', async () => {
    const world = await dispatchWorld()
    const before = await world.ports.ledger.balance(world.account.id)
    const to = numbers(20, '07')
    const accepted = await world.ports.messages.accept(anOrder(world.account.id, { to, validity: 10 }))
    const ids =
      typeof accepted === 'object' ? accepted.results.flat().flatMap((id) => (typeof id === 'number' ? id : [])) : []
    const [plain] = await world.accept(1)
    const wrong = { now: () => secondsAfter(world.clock.now(), 55 * 3600) }
    const { carrier } = start(world, { clock: wrong, window: 8, outcomeOf: () => 'held' })
    await untilInTurns(() => carrier.submitted.length > 4)
    const remaining = carrier.submitted.length
    expect(carrier.submitted.map(({ id, validSeconds }) => [id === plain, validSeconds])).toEqual(
      carrier.submitted.map(({ id }) => (id === plain ? [true, undefined] : [false, 600])),
    )
    world.clock.step(540)
    carrier.release('accepted', 1)
    await untilInTurns(() => carrier.submitted.length > remaining)
    expect(carrier.submitted.at(-1)?.validSeconds).toBe(60)
    world.clock.step(60)
    const submitted = carrier.submitted.filter(({ id }) => ids.includes(id)).map(({ id }) => id)
    for (let turn = 0; turn < 2000 && world.waiting() > 0; turn++) {
      carrier.release('accepted', 20)
      await nextTurn()
    }
    expect(carrier.submitted.filter(({ id }) => id !== plain)).toHaveLength(submitted.length)
    expect(await codesOf(world, ids)).toEqual(
      ids.map((id) => (submitted.includes(id) ? OUTCOME.sent : OUTCOME.expired)),
    )
    expect(await world.ports.ledger.balance(world.account.id)).toBe((before ?? NaN) - 10 * (submitted.length + 1))
    await untilInTurns(() => world.assertTidy().then(() => true))
  })
})

test('messages refused for now are submitted again after 2, 4 and 8 s, and no sooner', async () => {
  const world = await dispatchWorld()
  const { carrier } = start(world, {
    outcomeOf: (_, attempt) => (attempt <= 3 ? 'refused-for-now' : OUTCOME.delivered),
  })
  const ids = [...(await world.accept(2)), ...(await world.accept(20))]
  for (const [round, seconds] of [2, 4, 8].entries()) {
    await untilInTurns(() => carrier.submitted.length === 22 * (round + 1) && world.store.dispatchers.size > 0)
    const batches = () => [...world.store.dispatchers.values()].flatMap(({ batches: open }) => [...open.values()])
    await untilInTurns(() => batches().every((batch) => batch.messages.size === 0))
    await pass(world, seconds - 0.1)
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    expect(carrier.submitted).toHaveLength(22 * (round + 1))
    await pass(world, 0.1)
  }
  await untilInTurns(() => allAre(world, ids, OUTCOME.delivered))
  expect(carrier.submitted).toHaveLength(22 * 4)
})

describe('receipts', () => {
  test('of accepted messages without a record wait for the record; other receipts do not wait for them', async () => {
    const world = await dispatchWorld()
    let release = (): void => undefined
    const gate = new Promise<void>((resolve) => (release = resolve))
    const applied: number[] = []
    const { carrier } = start(world, {
      outcomeOf: () => 'accepted',
      disturb: (call) => {
        if (call === 'apply') applied.push(1)
        return call === 'record' ? () => gate : undefined
      },
    })
    const id = await world.acceptOne()
    await untilInTurns(() => carrier.submitted.length === 1 && carrier.unanswered.length === 0)
    const delivery = carrier.deliver([carrier.receiptFor(id, OUTCOME.delivered)])
    await carrier.deliver([{ ...carrier.receiptFor(id, OUTCOME.delivered), reference: 'of long ago' }])
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    expect(applied).toHaveLength(1)
    release()
    await delivery
    expect(await codesOf(world, [id])).toEqual([OUTCOME.delivered])
    expect(world.store.receipts.size).toBe(1) // the receipt of a message of long ago
  })

  test('that cannot be stored are rejected, so that the carrier offers them again', async () => {
    const world = await dispatchWorld()
    const { carrier } = start(world, { disturb: (call, nth) => (call === 'apply' && nth <= 3 ? 'fails' : undefined) })
    const ids = await world.accept(5)
    await untilInTurns(() => allAre(world, ids, OUTCOME.delivered))
    await carrier.settled()
  })
})

describe('drain', () => {
  test('waits for answers, records them, and gives unsubmitted messages back for another dispatcher', async () => {
    const world = await dispatchWorld()
    const first = start(world, { settings: small, outcomeOf: () => 'held' })
    const ids = await world.accept(100)
    await untilInTurns(() => first.carrier.unanswered.length === 15)
    let isDrained = false
    const drained = first.dispatcher.drain(never).then(() => (isDrained = true))
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    expect(isDrained).toBe(false)
    first.carrier.release(OUTCOME.delivered)
    await drained
    expect(first.carrier.submitted).toHaveLength(15)
    expect(world.store.dispatchers.size).toBe(0)
    expect(await first.dispatcher.work('bulk')).toBe('closed')
    await untilInTurns(() => allAre(world, ids.slice(0, 15), OUTCOME.delivered))
    expect((await codesOf(world, ids)).filter((code) => code === 'waiting')).toHaveLength(85)
    const second = start(world, { settings: small })
    await untilInTurns(() => allAre(world, ids, OUTCOME.delivered))
    expect(second.carrier.submitted).toHaveLength(85)
  })

  test('does not end before the last record is committed, however long the commit takes', async () => {
    const world = await dispatchWorld()
    let release = (): void => undefined
    const gate = new Promise<void>((resolve) => (release = resolve))
    const { dispatcher, carrier } = start(world, {
      outcomeOf: () => 'accepted',
      disturb: (call) => (call === 'record' ? () => gate : undefined),
    })
    const ids = await world.accept(5)
    await untilInTurns(() => carrier.submitted.length === 5 && carrier.unanswered.length === 0)
    let isDrained = false
    const drained = dispatcher.drain(never).then(() => (isDrained = true))
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    expect(isDrained).toBe(false)
    release()
    await drained
    expect(await codesOf(world, ids)).toEqual(Array(5).fill(OUTCOME.sent))
  })

  test('waits no longer than its deadline: outstanding submissions become 106, and a later answer corrects them', async () => {
    const world = await dispatchWorld()
    const { dispatcher, carrier } = start(world, { settings: small, outcomeOf: () => 'held' })
    const ids = await world.accept(100)
    await untilInTurns(() => carrier.unanswered.length === 15)
    await dispatcher.drain(Promise.resolve())
    expect(await codesOf(world, ids.slice(0, 15))).toEqual(Array(15).fill(OUTCOME.unknown))
    carrier.release('accepted', 5)
    carrier.release('refused', 5)
    carrier.release('refused-for-now', 4)
    await untilInTurns(() => allAre(world, ids.slice(0, 5), OUTCOME.sent))
    await untilInTurns(() => allAre(world, ids.slice(5, 14), OUTCOME.refused))
    expect(await codesOf(world, ids.slice(14, 16))).toEqual([OUTCOME.unknown, 'waiting'])
    expect(carrier.submitted).toHaveLength(15)
  })

  test('repeats a failed giving back until the deadline', async () => {
    const world = await dispatchWorld()
    const { dispatcher, carrier } = start(world, {
      settings: small,
      disturb: (call, nth) => (call === 'retire' && nth <= 3 ? 'fails' : undefined),
    })
    await world.accept(1)
    await untilInTurns(() => carrier.submitted.length === 1)
    await dispatcher.drain(never)
    expect(world.store.dispatchers.size).toBe(0)
    const other = start(world, { settings: small, disturb: (call) => (call === 'retire' ? 'fails' : undefined) })
    await world.accept(1)
    await untilInTurns(() => other.carrier.submitted.length === 1)
    await expect(other.dispatcher.drain(Promise.resolve())).rejects.toThrow('retire')
  })

  test('ends at once if nothing was ever claimed', async () => {
    const world = await dispatchWorld()
    const { dispatcher } = start(world)
    await dispatcher.drain(never)
    expect(world.store.dispatchers.size).toBe(0)
  })
})

test('behind bulk on a slow carrier a single message waits for 0.6 s of its answers, not for the whole in-doubt limit', async () => {
  const world = await dispatchWorld()
  const { carrier } = start(world, { outcomeOf: () => 'held', window: 1000 })
  await world.accept(1000)
  await untilInTurns(() => carrier.unanswered.length >= 150)
  // The carrier answers 50 messages a second.
  const secondsPass = async (seconds: number) => {
    for (let i = 0; i < seconds * 50; i++) {
      world.clock.step(0.02)
      carrier.release('accepted', 1)
      await nextTurn()
    }
  }
  await secondsPass(4)
  await untilInTurns(() => carrier.unanswered.length <= 30)
  const [single] = await world.accept(1)
  await untilInTurns(() => carrier.unanswered.some(({ id }) => id === single))
  expect(carrier.unanswered.findIndex(({ id }) => id === single)).toBeLessThanOrEqual(30)
  await secondsPass(4)
  expect(carrier.unanswered.length).toBeGreaterThan(0)
  expect(carrier.unanswered.length).toBeLessThanOrEqual(30)
})

test('messages that a slow carrier never answers block no other message: free room is used within 5 s', async () => {
  const world = await dispatchWorld()
  const { carrier } = start(world, { outcomeOf: () => 'held', window: 50 })
  const ids = await world.accept(400)
  const lost = new Set(ids.filter((_, at) => at % 4 === 3))
  // 20 answers a second, but every fourth message gets none.
  const secondsPass = async (seconds: number) => {
    for (let i = 0; i < seconds * 20; i++) {
      world.clock.step(0.05)
      carrier.release('accepted', 1, ({ id }) => !lost.has(id))
      await nextTurn()
      await nextTurn()
    }
  }
  await untilInTurns(() => carrier.unanswered.length > 0)
  await secondsPass(6)
  for (let before = carrier.submitted.length; carrier.unanswered.length < 49; before = carrier.submitted.length) {
    await secondsPass(5)
    expect(carrier.submitted.length).toBeGreaterThan(before)
  }
})

test('a store that marks too many messages violates an invariant: nothing more is submitted, and another dispatcher continues', async () => {
  const world = await dispatchWorld()
  const { claimedBatches } = world.ports
  const claim = claimedBatches.claim.bind(claimedBatches)
  let isLying = true
  Object.assign(claimedBatches, {
    claim: async (...args: Parameters<typeof claim>) => {
      const batch = await claim(...args)
      return typeof batch === 'object' && isLying ? { ...batch, marked: batch.messages.length } : batch
    },
  })
  const ids = await world.accept(300)
  const broken = start(world, { settings: { inDoubtMax: 20 } })
  await untilInTurns(() => broken.dispatcher.state().mode === 'broken')
  expect(broken.problems).toMatchObject([{ name: 'BrokenInvariant' }])
  expect(broken.carrier.submitted).toEqual([])
  expect(await broken.dispatcher.work('single')).toBe('closed')
  isLying = false
  start(world, { settings: { inDoubtMax: 20 } })
  const isOver = (code: number | string) => code === OUTCOME.delivered || code === OUTCOME.unknown
  await untilInTurns(async () => (await codesOf(world, ids)).every(isOver))
  expect((await codesOf(world, ids)).filter((code) => code === OUTCOME.unknown).length).toBeLessThanOrEqual(20)
  await broken.dispatcher.drain(never)
  expect(broken.dispatcher.state().mode).toBe('ended')
})

test('a dispatcher ends once', async () => {
  const { dispatcher } = start(await dispatchWorld())
  await dispatcher.drain(never)
  await expect(dispatcher.drain(never)).rejects.toThrow('a dispatcher in mode ended cannot change to ended')
})

test('at a stop unmarked messages go back at once, while submitted ones still wait for their answers', async () => {
  const world = await dispatchWorld()
  const stopping = start(world, { outcomeOf: () => 'held', window: 20, settings: small })
  const ids = await world.accept(25)
  await untilInTurns(() => stopping.carrier.submitted.length === 15)
  const drained = stopping.dispatcher.drain(never)
  const next = start(world, { id: 'next' })
  await untilInTurns(() => next.carrier.submitted.length === 10)
  stopping.carrier.release('accepted')
  await drained
  await untilInTurns(async () =>
    (await codesOf(world, ids)).every((code) => code === OUTCOME.sent || code === OUTCOME.delivered),
  )
})

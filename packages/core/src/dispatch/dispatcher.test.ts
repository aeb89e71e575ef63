import { strict as assert } from 'node:assert'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { aCarrierId, anOrder, aSender, numbers, untilInTurns, type ScriptedOutcome } from '@gateway/core/testing'
import { dispatchWorld, type DispatchWorld } from '../../testing/dispatch-world.ts'
import { endDispatchers, startDispatcher as start } from '../../testing/start-dispatcher.ts'
import type { MessageId } from '../messages/messages.ts'
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

/** What dispatchers leave to the clock: it is moved on by `seconds`, and what is due is done. */
async function pass(world: DispatchWorld, seconds: number): Promise<void> {
  world.clock.step(seconds)
  await world.ports.claimedBatches.promote(1000)
}

test('everything that waits is submitted once, recorded, and gets its receipt; nothing is left in flight', async () => {
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
  'how long messages wait is measured by the clock of the store, also if its own is %d hours wrong',
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

test('within a send, messages leave in the order of the request', async () => {
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

describe('the bounds', () => {
  test('with a carrier that does not answer, the window and what may be in doubt fill up, and no more leaves', async () => {
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
      // Answers make room, and all of it goes through the same eye of the needle.
      for (let turn = 0; turn < 20_000 && !(await allAre(world, ids, OUTCOME.delivered)); turn++) {
        carrier.release(OUTCOME.delivered, 3)
        await nextTurn()
      }
      expect(await allAre(world, ids, OUTCOME.delivered)).toBe(true)
      // Where answers are quick no room of the window is kept for single messages.
      expect(carrier.unansweredMost).toBeLessThanOrEqual(Math.min(window, Math.max(1, Math.floor(inDoubtMax * 0.875))))
    }
  })

  test('answers that the carrier has read and not told yet widen no window', async () => {
    const world = await dispatchWorld()
    const { carrier, dispatcher } = start(world, { window: 20, outcomeOf: () => 'held', room: () => 20 })
    await Promise.all(Array.from({ length: 10 }, () => world.accept(10)))
    await untilInTurns(() => carrier.unanswered.length === 20)
    for (let turn = 0; turn < 50; turn++) await nextTurn()
    expect(carrier.submitted).toHaveLength(20)
    expect(dispatcher.state().inDoubt).toBe(20)
  })

  test('bulk that fills its share of window and doubt does not hold up the single lane', async () => {
    const world = await dispatchWorld()
    const { carrier } = start(world, { settings: small, window: 20, outcomeOf: () => 'held' })
    await world.accept(500)
    await untilInTurns(() => carrier.unanswered.length === 15)
    const ids = await world.accept(2)
    await untilInTurns(() => carrier.submitted.length === 17)
    expect(carrier.submitted.slice(-2).map(({ id }) => id)).toEqual(ids)
  })

  test('a message that gets no answer does not hold up bulk, however slow the carrier was before', async () => {
    const world = await dispatchWorld()
    const [lost] = await world.accept(1)
    const { carrier } = start(world, { window: 200, outcomeOf: ({ id }) => (id === lost ? 'held' : 'accepted') })
    await untilInTurns(() => carrier.unanswered.length === 1)
    // One answer in ten seconds.
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

test('nothing leaves before its mark is committed', async () => {
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

describe('messages that end without a carrier', () => {
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
    const [left, stopped] = [[...ids.slice(0, from), ...ids.slice(to)], ids.slice(from, to)]
    await untilInTurns(() => allAre(world, left, OUTCOME.delivered))
    await untilInTurns(() => allAre(world, stopped, OUTCOME.optedOut))
    await untilInTurns(() => world.assertTidy().then(() => true))
    expect(carrier.submitted.map(({ id }) => id)).toEqual(left)
    expect(problems).toEqual([])
    // One life: a claimed batch that ends by itself is not taken for one that was taken away.
    expect(world.store.dispatchers.size).toBe(1)
  })

  test('are settled in the single lane too, where the next claim waits for room', async () => {
    const world = await dispatchWorld()
    const ids = (await Promise.all(Array.from({ length: 20 }, () => world.accept(5)))).flat()
    await suppress(world, 30, 77)
    start(world, { settings: small })
    await untilInTurns(async () => (await codesOf(world, ids)).every((code) => code !== 'waiting'))
    expect((await codesOf(world, ids)).filter((code) => code === OUTCOME.optedOut)).toHaveLength(47)
  })

  test('locked account, blacklisted number, beyond validity: each with its code, and refunded', async () => {
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

    // Nothing is claimed between accepting and locking: the first dispatcher has ended, the second has not begun.
    await first.dispatcher.drain(never)
    const locked = await world.acceptOne()
    await world.ports.accounts.setLocked(world.account.id, true)
    const second = start(world)
    await untilInTurns(() => world.waiting() === 0)
    expect(await codesOf(world, [locked])).toEqual([OUTCOME.accountLocked])
    expect([...first.carrier.submitted, ...second.carrier.submitted]).toEqual([])
    expect(await world.ports.ledger.balance(world.account.id)).toBe(before)
  })

  test('a sender that the carrier does not allow: its own is used, or the message is refused and refunded', async () => {
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

  test('what expires of itself before its turn comes, by the clock of the store, ends as 101; others say how long they are valid', async () => {
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
    const left = carrier.submitted.length
    expect(carrier.submitted.map(({ id, validSeconds }) => [id === plain, validSeconds])).toEqual(
      carrier.submitted.map(({ id }) => (id === plain ? [true, undefined] : [false, 600])),
    )
    world.clock.step(540)
    carrier.release('accepted', 1)
    await untilInTurns(() => carrier.submitted.length > left)
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

test('what the carrier refuses for now comes again after 2, 4, 8 s, and no sooner', async () => {
  const world = await dispatchWorld()
  const { carrier } = start(world, {
    outcomeOf: (_, attempt) => (attempt <= 3 ? 'refused-for-now' : OUTCOME.delivered),
  })
  const ids = [...(await world.accept(2)), ...(await world.accept(20))]
  for (const [round, seconds] of [2, 4, 8].entries()) {
    await untilInTurns(() => carrier.submitted.length === 22 * (round + 1) && world.store.dispatchers.size > 0)
    const batches = () => [...world.store.dispatchers.values()].flatMap((its) => [...its.batches.values()])
    await untilInTurns(() => batches().every(({ held }) => held.size === 0))
    await pass(world, seconds - 0.1)
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    expect(carrier.submitted).toHaveLength(22 * (round + 1))
    await pass(world, 0.1)
  }
  await untilInTurns(() => allAre(world, ids, OUTCOME.delivered))
  expect(carrier.submitted).toHaveLength(22 * 4)
})

describe('receipts', () => {
  test('of messages that are accepted and not recorded wait for the record; others do not wait for them', async () => {
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
    const held = carrier.deliver([carrier.receiptFor(id, OUTCOME.delivered)])
    await carrier.deliver([{ ...carrier.receiptFor(id, OUTCOME.delivered), reference: 'of long ago' }])
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    expect(applied).toHaveLength(1)
    release()
    await held
    expect(await codesOf(world, [id])).toEqual([OUTCOME.delivered])
    expect(world.store.receipts.size).toBe(1) // that of long ago
  })

  test('that cannot be stored are refused, so that the carrier offers them again', async () => {
    const world = await dispatchWorld()
    const { carrier } = start(world, { disturb: (call, nth) => (call === 'apply' && nth <= 3 ? 'fails' : undefined) })
    const ids = await world.accept(5)
    await untilInTurns(() => allAre(world, ids, OUTCOME.delivered))
    await carrier.settled()
  })
})

describe('drain', () => {
  test('waits for answers, records them, and gives the rest back for another dispatcher', async () => {
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

  test('does not end before the last record is committed, however long that takes', async () => {
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

  test('waits no longer than its deadline: what is unanswered is 106, and an answer that comes later tells the truth', async () => {
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

  test('tries again to give back what it could not, until the deadline', async () => {
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

  test('at once, while nothing was ever claimed', async () => {
    const world = await dispatchWorld()
    const { dispatcher } = start(world)
    await dispatcher.drain(never)
    expect(world.store.dispatchers.size).toBe(0)
  })
})

test('behind the bulk of a slow carrier a single message waits for what it answers in 0.6 s, not for all that may be in doubt', async () => {
  const world = await dispatchWorld()
  const { carrier } = start(world, { outcomeOf: () => 'held', window: 1000 })
  await world.accept(1000)
  await untilInTurns(() => carrier.unanswered.length >= 150)
  // 50 answers a second.
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

test('messages that a slow carrier never answers hold up no other: what it has room for is submitted within 5 s', async () => {
  const world = await dispatchWorld()
  const { carrier } = start(world, { outcomeOf: () => 'held', window: 50 })
  const ids = await world.accept(400)
  const lost = new Set(ids.filter((_, at) => at % 4 === 3))
  // 20 answers a second, none of them to every fourth.
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

test('a store that marks more than it was asked breaks an invariant: nothing more is submitted, and another dispatcher goes on', async () => {
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
  await expect(dispatcher.drain(never)).rejects.toThrow('a dispatcher that is ended becomes ended')
})

test('at a stop what is not marked goes back at once, while what was submitted still waits for its answers', async () => {
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

import { setImmediate as nextTurn } from 'node:timers/promises'
import { anAccount, aNumber, anOrder, untilInTurns, type ScriptedCarrier } from '@gateway/core/testing'
import { dispatchWorld, type DispatchWorld } from '../../testing/dispatch-world.ts'
import { endDispatchers, startDispatcher as start } from '../../testing/start-dispatcher.ts'
import type { Account } from '../accounts/account.ts'
import type { InboundMessage } from '../inbox/inbound-message.ts'
import { defaultConfirmation } from '../inbox/receive.ts'
import type { MessageId } from '../messages/message-id.ts'
import { OUTCOME } from '../messages/status-code.ts'
import { instant } from '../time/instant.ts'

afterEach(endDispatchers)

const number = aNumber('27825550100')

let written = 0
const reply = (carrier: ScriptedCarrier, text: string, some: Partial<InboundMessage> = {}): InboundMessage => ({
  carrier: carrier.id,
  from: `+${number}`,
  to: undefined,
  text,
  sent: undefined,
  reference: `reply-${++written}`,
  offer: undefined,
  part: undefined,
  ...some,
})

async function send(world: DispatchWorld, by: Account, to = number): Promise<MessageId> {
  const accepted = await world.ports.messages.accept(anOrder(by.id, { to: [to] }))
  const [id] = typeof accepted === 'object' ? accepted.results.flat() : []
  if (typeof id !== 'number') throw new Error('it was not accepted')
  return id
}

const inboxOf = async (world: DispatchWorld, { id }: Account) =>
  (await world.ports.inbox.list(id, 'all', instant(0), { offset: 0, limit: 1000 })).items

/**
 * Creates a world in which another account has already sent a message to the number. Later `record` calls wait until
 * `open` is called.
 */
async function setUpUnrecorded() {
  const world = await dispatchWorld()
  const before = await anAccount(world.ports)
  let open = (): void => undefined
  const gate = new Promise<void>((resolve) => (open = resolve))
  let gated = false
  const started = start(world, { disturb: (call) => (call === 'record' && gated ? () => gate : undefined) })
  await send(world, before)
  await untilInTurns(() => world.waiting() === 0)
  gated = true
  return { world, before, carrier: started.carrier, open }
}

test('a reply that arrives before its message is recorded waits for the record and is assigned to the message', async () => {
  const { world, before, carrier, open } = await setUpUnrecorded()
  const id = await send(world, world.account)
  await untilInTurns(() => carrier.submitted.length === 2)
  let acknowledged = false
  const arrived = carrier.arrive([reply(carrier, 'yes')]).then(() => (acknowledged = true))
  const other = aNumber('27825550199')
  await carrier.arrive([reply(carrier, 'who is this?', { from: other })])
  for (let turn = 0; turn < 20; turn++) await nextTurn()
  expect(acknowledged).toBe(false)
  open()
  await arrived
  expect(await inboxOf(world, world.account)).toMatchObject([{ from: number, text: 'yes', answers: id }])
  expect(await inboxOf(world, before)).toEqual([])
})

test('a reply that arrives before the answer to its message waits for that answer', async () => {
  const world = await dispatchWorld()
  const { carrier } = start(world, { outcomeOf: () => 'held' })
  const id = await send(world, world.account)
  await untilInTurns(() => carrier.submitted.length === 1)
  const arrived = carrier.arrive([reply(carrier, 'yes')])
  for (let turn = 0; turn < 20; turn++) await nextTurn()
  expect(world.store.inboundMessages).toEqual([])
  carrier.release('unknown')
  await arrived
  expect(await inboxOf(world, world.account)).toMatchObject([{ text: 'yes', answers: id }])
})

test('a reply does not wait for messages submitted after it arrived', async () => {
  const world = await dispatchWorld()
  const { carrier } = start(world, { outcomeOf: () => 'held' })
  const first = await send(world, world.account)
  await untilInTurns(() => carrier.submitted.length === 1)
  const arrived = carrier.arrive([reply(carrier, 'yes')])
  await send(world, world.account)
  await untilInTurns(() => carrier.submitted.length === 2)
  carrier.release('accepted', 1)
  await arrived
  expect(await inboxOf(world, world.account)).toMatchObject([{ answers: first }])
})

test.each(['fails', 'fails after its work'] as const)(
  'an inbound message whose storing %s is not acknowledged, and is stored once when offered again',
  async (disturbance) => {
    const world = await dispatchWorld()
    const { carrier } = start(world, {
      disturb: (call, nth) => (call === 'receive' && nth === 1 ? disturbance : undefined),
    })
    await send(world, world.account)
    await untilInTurns(() => world.waiting() === 0)
    const one = reply(carrier, 'yes')
    await expect(carrier.arrive([one])).rejects.toThrow('receive 1 fails')
    await carrier.arrive([one])
    await carrier.arrive([one])
    expect(await inboxOf(world, world.account)).toMatchObject([{ text: 'yes' }])
  },
)

test.each(['fails', 'fails after its work'] as const)(
  'of STOP and START the later one counts, even if storing STOP %s and START is offered again first',
  async (disturbance) => {
    const world = await dispatchWorld()
    const { carrier } = start(world, {
      disturb: (call, nth) => (call === 'receive' && nth === 1 ? disturbance : undefined),
    })
    await send(world, world.account)
    await untilInTurns(() => world.waiting() === 0)
    const [stop, begin] = [reply(carrier, 'STOP'), reply(carrier, 'START')]
    await expect(carrier.arrive([stop])).rejects.toThrow('receive 1 fails')
    await carrier.arrive([begin])
    await carrier.arrive([stop])
    expect((await inboxOf(world, world.account)).map(({ text }) => text)).toEqual(['STOP', 'START'])
    const optOuts = []
    for await (const page of world.ports.suppressions.optOuts(world.account.id)) optOuts.push(...page)
    expect(optOuts).toEqual([])
  },
)

test('receipts of one message are applied in the order of their carrier, even if storing the first failed', async () => {
  const world = await dispatchWorld()
  const { carrier } = start(world, {
    outcomeOf: () => 'accepted',
    disturb: (call, nth) => (call === 'apply' && nth === 1 ? 'fails' : undefined),
  })
  const id = await send(world, world.account)
  await untilInTurns(() => world.waiting() === 0)
  await expect(carrier.deliver([carrier.receiptFor(id, OUTCOME.delivered)])).rejects.toThrow('apply 1 fails')
  await carrier.deliver([carrier.receiptFor(id, OUTCOME.undeliverable)])
  await carrier.deliver([carrier.receiptFor(id, OUTCOME.delivered)])
  expect(await world.status([id])).toMatchObject([{ code: OUTCOME.delivered }])
})

/** Answers every message at once, including confirmations, and repeats each answer until it is acknowledged. */
function autoResponder(text: string) {
  const carriers: ScriptedCarrier[] = []
  let owed = 0
  const answer = async (carrier: ScriptedCarrier, arrival: InboundMessage): Promise<void> => {
    owed++
    for (;;) {
      const isAcknowledged = await carrier.arrive([arrival]).then(
        () => true,
        () => false,
      )
      if (isAcknowledged) break
      await nextTurn()
    }
    owed--
  }
  return {
    on: (carrier: ScriptedCarrier) => void carriers.push(carrier),
    outcomeOf: ({ to, from }: { readonly to: string; readonly from: string | undefined }) => {
      for (const carrier of carriers) void answer(carrier, reply(carrier, text, { from: to, to: from }))
      return 'accepted' as const
    },
    owed: () => owed,
  }
}

test.each([
  ['a store that works', 0],
  ['a store that fails half of the time', 2],
])('somebody whose phone answers everything with "stop" gets one confirmation: %s', async (_, every) => {
  const world = await dispatchWorld()
  const responder = autoResponder('stop')
  const { carrier } = start(world, {
    outcomeOf: responder.outcomeOf,
    disturb: (call, nth) => (call === 'receive' && every > 0 && nth % every === 1 ? 'fails after its work' : undefined),
  })
  responder.on(carrier)
  const id = await send(world, world.account)
  await untilInTurns(() => carrier.submitted.length >= 2 && responder.owed() === 0 && world.waiting() === 0)
  for (let turn = 0; turn < 50; turn++) await nextTurn()
  expect(carrier.submitted.map(({ to, body }) => [to, body.text])).toEqual([
    [number, 'hello'],
    [number, defaultConfirmation],
  ])
  expect(carrier.submitted[1]?.from).toBe(carrier.submitted[0]?.from)
  // Both answers are stored and assigned to the message, not to a confirmation.
  expect(await inboxOf(world, world.account)).toMatchObject([
    { text: 'stop', answers: id },
    { text: 'stop', answers: id },
  ])
  const optOuts = []
  for await (const one of world.ports.suppressions.optOuts(world.account.id)) optOuts.push(...one)
  expect(optOuts).toMatchObject([{ number }])
})

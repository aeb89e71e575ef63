import type { ClaimedBatch, Handover } from '@gateway/core/dispatch'
import { OUTCOME } from '@gateway/core/messages'
import type { QueueNumber } from '@gateway/core/routes'
import { secondsAfter } from '@gateway/core/time'
import {
  aCustomer,
  aPart,
  aCarrierId,
  anAccountId,
  aMessageId,
  anAccount,
  anOrder,
  numbers,
  steppingClock,
  type TextOptions,
  reportCarriers,
} from '@gateway/core/testing'
import { anOperator, type Operator } from '../../testing/operate.ts'

const carrier = aCarrierId('sim')

interface Explanation {
  readonly explanation: string
}

/** Creates an operator whose account 1 has sent one text, and a dispatcher. */
async function aGateway(options: Partial<TextOptions> = {}) {
  const clock = steppingClock()
  const operator = anOperator({ clock })
  const { claimedBatches, messages } = operator.ports
  const account = await anAccount(operator.ports)
  await messages.accept(anOrder(account.id, { to: numbers(1), text: 'the secret', ...options }))
  const dispatcher = await claimedBatches.register(30)
  const claim = async (markedMax = 10, of: { readonly queue?: QueueNumber } = {}): Promise<ClaimedBatch> => {
    const lane = { carrier, lane: 'single', messagesMax: 10, markedMax, leaseSeconds: 30, ...of } as const
    const batch = await claimedBatches.claim(dispatcher, lane)
    if (typeof batch === 'string') throw new Error(batch)
    return batch
  }
  const record = ({ id, messages: all }: ClaimedBatch, handover: Handover) =>
    claimedBatches.record(
      dispatcher,
      all.map((message) => ({ batch: id, message, handover })),
    )
  return { clock, operator, dispatcher, claim, record, claimedBatches }
}

/** Returns the trace of message 1 without the facts at its head. */
const historyOf = async (operator: Operator): Promise<readonly string[]> => {
  const { code, out, err } = await operator.run(['message', 'explain', '1'])
  expect([code, err]).toEqual([0, ''])
  expect(out).not.toContain('secret')
  return out.trimEnd().split('\n\n').slice(1)
}

const accepted = '2026/10/18 10:00:00  accepted; 1.0 credits were charged'
const end = 'All times are GMT+2.'
const receipt = { carrier, reference: 'r-1', number: undefined, submitted: undefined }

test('a delivered message: its facts, location and history, and never its text', async () => {
  const { clock, operator, claim, record } = await aGateway({ to: numbers(2) })
  const batch = await claim()
  clock.step(2)
  await record(batch, { outcome: 'accepted', reference: 'r-1' })
  clock.step(3)
  await operator.ports.deliveryReceipts.apply([{ ...receipt, code: OUTCOME.delivered }])
  const { out } = await operator.run(['message', 'explain', '2'])
  expect(out).toBe(
    [
      'message   2',
      'account   1',
      'number    27820000100',
      'from      12025550100',
      'text      10 characters, GSM 7-bit, 1 part; the text itself is not shown',
      'due       at once',
      'credits   1.0 charged',
      'attempts  1',
      'carrier   sim, its id of the message: r-1',
      '',
      'It is DELIVERED 0 (delivered to the recipient) since 2026/10/18 10:00:05.',
      '',
      '2026/10/18 10:00:00  accepted; 2.0 credits were charged for the 2 messages of its send (ids 1 to 2)',
      '2026/10/18 10:00:02  carrier sim took it',
      '2026/10/18 10:00:05  its receipt says: DELIVERED 0 (delivered to the recipient)',
      end,
      '',
    ].join('\n'),
  )
})

test('a message of several parts: the id and the state of each, and why it failed', async () => {
  const { clock, operator, claim, record } = await aGateway({ text: 'a'.repeat(200) })
  const batch = await claim()
  await record(batch, { outcome: 'accepted', reference: 'r-1', furtherReferences: ['r-2'] })
  clock.step(3)
  await operator.ports.deliveryReceipts.apply([{ ...receipt, reference: 'r-2', code: OUTCOME.undeliverable }])
  const { out } = await operator.run(['message', 'explain', '1'])
  expect(out).toContain('carrier   sim, its ids of the parts: r-1, r-2\n')
  expect(out).toContain(
    [
      '2026/10/18 10:00:00  carrier sim took it',
      '2026/10/18 10:00:03  the receipt of part 2 of 2 says: SENDINGFAILED 103 (could not be delivered)',
      end,
      '',
    ].join('\n'),
  )
  expect(await operator.row('message', 'explain', '1')).toHaveProperty('now.parts', [
    { carrierId: 'r-1', status: 'SENT', statusCode: 100, time: null },
    { carrierId: 'r-2', status: 'SENDINGFAILED', statusCode: 103, time: '2026-10-18T08:00:03.000Z' },
  ])
})

test('a message that a carrier accepted only in part', async () => {
  const { operator, claim, record } = await aGateway({ text: 'a'.repeat(200) })
  await record(await claim(), { outcome: 'partly', reference: 'r-1' })
  expect((await operator.run(['message', 'explain', '1'])).out).toContain(
    '2026/10/18 10:00:00  carrier sim took some of its parts and refused the others\n',
  )
})

test('the chosen route and the reason, its carriers in order, and the one that refused temporarily', async () => {
  const { clock, operator, dispatcher, claim, claimedBatches } = await aGateway()
  const { routes, messages } = operator.ports
  const over = (name: string, priority: number) => ({ carrier: aCarrierId(name), priority, weight: 1 })
  const others = { name: 'others', prefixes: [], accounts: [], senders: [], carriers: [over('sim', 1)] }
  const chosen = { ...others, name: 'cheap', prefixes: ['2782'], carriers: [over('other', 2), over('sim', 1)] }
  await routes.publish([{ ...others, name: 'bank', accounts: [anAccountId(9)] }, chosen, others])
  const [route] = (await routes.list()).filter(({ name }) => name === 'cheap')
  await messages.accept(anOrder(anAccountId(1), { to: numbers(1) }))
  const queue = route?.queues[0]?.number
  const batch = await claim(10, queue === undefined ? {} : { queue })
  clock.step(1)
  const ids = batch.messages.map(({ id }) => id)
  await claimedBatches.postpone(dispatcher, batch.id, ids, 60)
  const { out } = await operator.run(['message', 'explain', '2'])
  expect(out).toContain(
    'route     cheap, number 2 of those that are tried, for numbers that begin with 2782; ' +
      'carriers: sim (priority 1, weight 1), other (priority 2, weight 1); ' +
      'when these are full, single sends go to the next priority after 2 s, bulk never\n',
  )
  expect(out).toContain(
    '2026/10/18 10:00:01  the carrier refused the message temporarily; it is tried again (carrier sim)\n',
  )
  expect(await operator.row('message', 'explain', '2')).toMatchObject({
    route: {
      name: 'cheap',
      position: 2,
      prefixes: ['2782'],
      carriers: [{ carrier: 'other', priority: 2 }, { carrier: 'sim' }],
    },
    incidents: [{ what: 'refused for now', carrier: 'sim' }],
  })
})

test('the trace as JSON', async () => {
  const { clock, operator, claim, record } = await aGateway({ to: numbers(2) })
  const batch = await claim()
  await record({ ...batch, messages: batch.messages.slice(0, 1) }, { outcome: 'refused' })
  clock.step(60)
  expect(await operator.row('message', 'explain', '1')).toEqual({
    id: 1,
    account: 1,
    number: '27820000000',
    from: '12025550100',
    confirmation: false,
    accepted: '2026-10-18T08:00:00.000Z',
    scheduledTime: null,
    expires: null,
    priority: 0,
    flash: false,
    route: null,
    characters: 10,
    encoding: 'gsm-7',
    partCount: 1,
    cost: 1,
    charged: 1,
    returned: 1,
    net: 0,
    reference: null,
    category: null,
    bind: null,
    refunded: true,
    refund: { time: '2026-10-18T08:00:00.000Z', statusCode: 111, why: null },
    attempts: 1,
    now: {
      place: 'decided',
      status: 'SENDINGFAILED',
      statusCode: 111,
      meaning: 'refused on submission',
      since: '2026-10-18T08:00:00.000Z',
      decided: '2026-10-18T08:00:00.000Z',
      carrier: 'sim',
      carrierId: null,
      carrierPrice: null,
      parts: [],
    },
    explanation: 'It is SENDINGFAILED 111 (refused on submission) since 2026/10/18 10:00:00.',
    waitsFor: null,
    waitsForCarriers: [],
    incidents: [],
    keptReceipts: [],
    send: {
      firstMessage: 1,
      messages: 2,
      cost: 2,
      otherRefunds: [],
      carrierPrices: [],
    },
  })
})

test('a waiting message: scheduled, queued and for how long, or waiting for another try', async () => {
  const due = secondsAfter(steppingClock().now(), 3600)
  const scheduled = await aGateway({ due })
  expect(await historyOf(scheduled.operator)).toEqual([
    'It waits for its time, 2026/10/18 11:00:00, and can still be deleted.',
    `${accepted}\n${end}`,
  ])
  const queued = await aGateway()
  queued.clock.step(300)
  expect((await historyOf(queued.operator))[0]).toBe(
    'It waits in the queue, single lane, due since 2026/10/18 10:00:00 (5 min). No dispatcher has been heard of lately: nothing is sent.',
  )
  await reportCarriers(queued.operator.ports, { id: '1', host: 'a', pid: 1 }, [
    { carrier, mode: 'running', window: 10, unanswered: 10, status: undefined },
  ])
  expect((await historyOf(queued.operator))[0]).toContain(
    'Carrier sim is taken up: all of the window waits for answers.',
  )
  expect(await queued.operator.row('message', 'explain', '1')).toMatchObject({
    waitsFor: 'window-full',
    waitsForCarriers: ['sim'],
  })
  await reportCarriers(queued.operator.ports, { id: '1', host: 'a', pid: 1 }, [])
  const { id } = await queued.claim()
  await queued.claimedBatches.postpone(queued.dispatcher, id, [aMessageId(1)], 60)
  expect(await historyOf(queued.operator)).toEqual([
    'The carrier has refused it for now, 1 time so far. It waits for another try, until 2026/10/18 10:06:00.',
    `${accepted}\n2026/10/18 10:05:00  the carrier refused the message temporarily; it is tried again (carrier sim)\n${end}`,
  ])
  queued.clock.step(60)
  await queued.claimedBatches.promote(10)
  expect((await historyOf(queued.operator))[0]).toBe(
    'It waits in the queue, single lane, due since 2026/10/18 10:00:00 (6 min). The carrier has refused it for now, 1 time so far. No dispatcher has been heard of lately: nothing is sent.',
  )
  expect(await queued.operator.row('message', 'explain', '1')).toMatchObject({
    attempts: 1,
    now: { place: 'queue', lane: 'single', due: '2026-10-18T08:00:00.000Z', refusedForNow: 1 },
  })
})

test('a claimed message: by which dispatcher, whether it may have been submitted, and what follows if the dispatcher dies', async () => {
  const unmarked = await aGateway()
  await unmarked.claim(0)
  expect((await historyOf(unmarked.operator))[0]).toBe(
    'Dispatcher 1 has claimed it for carrier sim. It is not marked: it has not been submitted. The lease of this dispatcher lasts until 2026/10/18 10:00:30.',
  )
  unmarked.clock.step(31)
  expect((await historyOf(unmarked.operator))[0]).toContain(
    'was over at 2026/10/18 10:00:30: unless it comes back at once, recovery will give it back to the queue.',
  )
  const marked = await aGateway()
  await marked.claim()
  expect(await marked.operator.row('message', 'explain', '1')).toMatchObject({
    attempts: 1,
    now: {
      place: 'claimed',
      dispatcher: 1,
      carrier: 'sim',
      mayHaveLeft: true,
      refusedForNow: 0,
      leaseUntil: '2026-10-18T08:00:30.000Z',
      leaseOver: false,
    },
  })
  marked.clock.step(31)
  expect((await historyOf(marked.operator))[0]).toContain(
    'It is marked: it may have been submitted, and the answer is not stored yet. The lease of this dispatcher was over at 2026/10/18 10:00:30: unless it comes back at once, recovery will call its outcome unknown (SENT 106).',
  )
})

test('a message that is unknown after a recovery, and a late report about it', async () => {
  const { clock, operator, claim, record, claimedBatches } = await aGateway()
  const batch = await claim()
  clock.step(31)
  await claimedBatches.recover()
  const number = numbers(1)[0]
  await operator.ports.deliveryReceipts.apply([{ ...receipt, code: OUTCOME.undeliverable, number }])
  expect(await historyOf(operator)).toEqual([
    'It is SENT 106 (outcome unknown) since 2026/10/18 10:00:31. Nobody knows whether the carrier took it: its dispatcher ended, or was cut off, before an answer was stored. It may have reached its recipient or not. It is not sent again, and stays charged. A receipt or a late answer may still settle it.',
    [
      accepted,
      '2026/10/18 10:00:31  the connection to the carrier ended during the submission; the message may have been sent',
      '2026/10/18 10:00:31  a receipt of carrier sim for its id r-1: SENDINGFAILED 103 (could not be delivered); kept, it may be of this message or of another to this number',
      end,
    ].join('\n'),
  ])
  expect((await operator.run(['message', 'explain', '1'])).out).toContain(
    'carrier   sim, its id of the message is not known\n',
  )
  clock.step(9)
  await record(batch, { outcome: 'refused' })
  expect(await historyOf(operator)).toEqual([
    'It is SENDINGFAILED 111 (refused on submission) since 2026/10/18 10:00:40.',
    [
      accepted,
      '2026/10/18 10:00:31  the connection to the carrier ended during the submission; the message may have been sent',
      '2026/10/18 10:00:40  the answer of the carrier arrived late',
      '2026/10/18 10:00:40  carrier sim had refused it',
      '2026/10/18 10:00:40  1.0 credits were returned for this message: refused on submission (111)',
      end,
    ].join('\n'),
  ])
})

test('an answer without an outcome, and the adopted receipt', async () => {
  const { clock, operator, claim, record } = await aGateway()
  await record(await claim(), { outcome: 'unknown' })
  const { explanation } = await operator.row<Explanation>('message', 'explain', '1')
  expect(explanation).toContain(
    'Nobody knows whether the carrier took it: the carrier did not give an answer that tells.',
  )
  const number = numbers(1)[0]
  await operator.ports.deliveryReceipts.apply([{ ...receipt, code: OUTCOME.delivered, number }])
  clock.step(60)
  await operator.ports.deliveryReceipts.adopt(0)
  expect((await historyOf(operator))[0]).toContain(
    'A receipt that fits no other message is taken for its own, and will be applied.',
  )
  expect((await historyOf(operator))[1]).toContain('(delivered to the recipient); to be applied')
  await operator.ports.deliveryReceipts.match(10)
  expect((await historyOf(operator))[1]).toBe(
    [
      accepted,
      '2026/10/18 10:00:00  the carrier did not confirm whether it accepted the message',
      '2026/10/18 10:00:00  its receipt says: DELIVERED 0 (delivered to the recipient)',
      '2026/10/18 10:01:00  a receipt that fits no other message was assigned to the message',
      end,
    ].join('\n'),
  )
})

test('a carrier that does not know the outcome is distinguished from a lost answer', async () => {
  const { clock, operator, claim, record } = await aGateway()
  await record(await claim(), { outcome: 'accepted', reference: 'r-1' })
  clock.step(5)
  await operator.ports.deliveryReceipts.apply([{ ...receipt, code: OUTCOME.unknown }])
  const [where, events] = await historyOf(operator)
  expect(where).toBe(
    'It is SENT 106 (outcome unknown) since 2026/10/18 10:00:05. The carrier itself says that it does not know.',
  )
  expect(events).toContain('10:00:05  its receipt says that the carrier does not know')
})

test('a deleted message, and the refunds of its send', async () => {
  const due = secondsAfter(steppingClock().now(), 3600)
  const { operator, clock } = await aGateway({ to: numbers(3), due })
  const ids = [1, 2].map(aMessageId)
  const account = anAccountId(1)
  await operator.ports.messages.deleteScheduled(account, ids.slice(0, 1), clock.now())
  clock.step(10)
  await operator.ports.messages.deleteScheduled(account, ids.slice(1), clock.now())
  const [where, events] = await historyOf(operator)
  expect(where).toBe('It is SENDINGFAILED 102 (cancelled before delivery) since 2026/10/18 10:00:00.')
  expect(events?.split('\n').slice(1)).toEqual([
    '2026/10/18 10:00:00  ended without a carrier: SENDINGFAILED 102 (cancelled before delivery)',
    '2026/10/18 10:00:00  1.0 credits were returned for this message: cancelled before delivery (102)',
    '2026/10/18 10:00:10  1.0 credits were returned for 1 other message of its send: cancelled before delivery (102)',
    end,
  ])
  expect((await operator.run(['message', 'explain', '1'])).out).toContain(
    '\ncredits   1.0 charged, 1.0 returned, net 0.0\nattempts  0\n',
  )
})

test('a message that an operator refunded still counts as accepted by its carrier', async () => {
  const { clock, operator, claim, record } = await aGateway()
  await record(await claim(), { outcome: 'accepted', reference: 'r-1' })
  clock.step(5)
  expect((await operator.run(['message', 'refund', '1', '--why', 'a complaint'])).code).toBe(0)
  expect((await historyOf(operator))[1]?.split('\n')).toEqual([
    accepted,
    '2026/10/18 10:00:00  carrier sim took it',
    '2026/10/18 10:00:05  1.0 credits were returned for this message: a complaint',
    end,
  ])

  const unknown = await aGateway()
  await unknown.record(await unknown.claim(), { outcome: 'unknown' })
  expect((await historyOf(unknown.operator))[0]).toContain('It is not sent again, and stays charged.')
  expect((await unknown.operator.run(['message', 'refund', '1', '--why', 'a complaint'])).code).toBe(0)
  expect((await historyOf(unknown.operator))[0]).not.toContain('charged')
})

test('a reference of a carrier cannot control the terminal', async () => {
  const { operator, claim, record } = await aGateway()
  await record(await claim(), { outcome: 'accepted', reference: '\u001b[2J' })
  const { out } = await operator.run(['message', 'explain', '1'])
  expect(out).toContain('its id of the message: ?[2J\n')
})

test('a message that is nowhere is reported as a defect', async () => {
  const { operator, dispatcher, claim } = await aGateway()
  await claim()
  operator.store.dispatchers.delete(dispatcher)
  expect((await historyOf(operator))[0]).toContain('This is a defect of the gateway')
  expect(await operator.row('message', 'explain', '1')).toMatchObject({ now: { place: 'nowhere' } })
})

test('an id that was never assigned is refused', async () => {
  const operator = anOperator()
  const message = 'There is no message 7. The id was never assigned, or the history was dropped.'
  expect(await operator.run(['message', 'explain', '7'])).toEqual({ code: 1, out: '', err: `${message}\n` })
  const { code, out, err } = await operator.run(['message', 'explain', '7', '--json'])
  expect([code, out, JSON.parse(err)]).toEqual([1, '', { error: message }])
})

test.each(['0', '-1', '1.5', 'x', '', '9007199254740992', "1' or 1=1"])('%j is not an id', async (id) => {
  const { code, out, err } = await anOperator().run(['message', 'explain', '--', id])
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain("Expected a message's id: a whole number.")
})

test('a message that confirms an opt-out is marked as such', async () => {
  const { operator, claim, record } = await aGateway()
  const batch = await claim()
  await record(batch, { outcome: 'accepted', reference: 'r-1' })
  await operator.run(['simulate', 'reply', '--from', '27820000000', '--to', '12025550100', '--text', 'STOP'])
  const { out } = await operator.run(['message', 'explain', '2'])
  expect(out).toContain('purpose   it confirms an opt-out\n')
  expect(await operator.row('message', 'explain', '2')).toMatchObject({
    confirmation: true,
    from: '12025550100',
    cost: 0,
  })
})

test('a message that came over SMPP names its bind', async () => {
  const operator = anOperator({ clock: steppingClock() })
  const { account, credential } = await aCustomer(operator.ports)
  const smpp = { credential: credential.id, remote: '192.0.2.7' }
  await operator.ports.messages.accept(anOrder(account.id, { to: numbers(1), smpp }))
  const { out } = await operator.run(['message', 'explain', '1'])
  expect(out).toContain(`\nbind      ${credential.systemId}, SMPP credential ${credential.id}, from 192.0.2.7\n`)
  expect((await operator.run(['message', 'explain', '1', '--json'])).out).toContain(
    JSON.stringify({ credential: credential.id, systemId: credential.systemId, remote: '192.0.2.7' }),
  )
})

test('a part whose text never became whole has a story of its own', async () => {
  const clock = steppingClock()
  const operator = anOperator({ clock })
  const { credential } = await aCustomer(operator.ports)
  const { smppParts, smppDeliveries } = operator.ports
  const added = await smppParts.add(aPart(credential, [1, 2], { receipts: 1 }), 10)
  if (typeof added !== 'object') throw new Error(added)
  expect((await operator.run(['message', 'explain', String(added.id)])).out).toContain(
    'It waits for the other parts of its text.',
  )
  clock.step(301)
  await smppParts.expire(300, 10)
  clock.step(73 * 3600)
  await smppDeliveries.drop(72, 10)
  const { out } = await operator.run(['message', 'explain', String(added.id)])
  expect(out.split('\n')).toEqual([
    `part      ${added.id}, 1 of the 2 parts of a text`,
    `account   ${credential.account}`,
    expect.stringMatching(/^number {4}\d+$/),
    `bind      ${credential.systemId}, SMPP credential ${credential.id}`,
    'credits   0.0 charged',
    '',
    expect.stringMatching(/^Its text was never sent. It is .* since 2026\/10\/18 10:05:01.$/),
    '',
    '2026/10/18 10:00:00  stored',
    expect.stringMatching(
      /^2026\/10\/21 11:05:01 {2}no SMPP client of the customer acknowledged the receipt or the reply in time$/,
    ),
    end,
    '',
  ])
})

import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import { OUTCOME, type MessageId, type Msisdn, type OutcomeCode } from '@gateway/core/messages'
import { erasedNumber, firstErasureStep, nothingErased, type ErasedCounts } from '@gateway/core/personal-data'
import type { Replay } from '@gateway/core/webhooks'
import { anAccount, anAddress, anOrder, aNumber, numbers } from '../builders.ts'
import { eventsOf } from '../events-of.ts'
import { aCustomer, aPart, aProcess } from '../smpp.ts'
import { aReceipt } from './delivery-receipts/sent-messages.ts'
import { inboxOf, optOutsOf, receive, sent } from './inbox/inbound-messages.ts'
import {
  accepted,
  assertLedger,
  codesOf,
  concurrentCallers,
  collect,
  dispatchDue,
  at,
  farAhead,
  longAgo,
  statusesOf,
  testCarrier,
  type Contract,
} from './shared.ts'
import { added, aWebhook, pushAll, replayed } from './webhooks/an-endpoint.ts'

const [number, other] = [aNumber(), aNumber('27820000100')]
const everything: Replay = { kind: 'period', from: longAgo, to: farAhead }

/** Runs all steps of an erasure. */
async function eraseAll({ personalData }: Pick<StoredPorts, 'personalData'>, of = number): Promise<ErasedCounts> {
  const sum: Record<keyof ErasedCounts, number> = { ...nothingErased }
  for (let step = firstErasureStep; ;) {
    const { erased, next } = await personalData.erase(of, step)
    for (const [kind, count] of Object.entries(erased)) sum[kind as keyof ErasedCounts] += count
    if (next === undefined) return sum
    step = next
  }
}

/** Sends one text to the numbers and applies receipts with this code. */
async function delivered(
  ports: StoredPorts,
  account: AccountId,
  to: readonly Msisdn[],
  text = 'your code is 1234',
): Promise<readonly MessageId[]> {
  const { ids } = await accepted(ports, anOrder(account, { to, text }))
  for (const lane of ['single', 'bulk'] as const)
    await dispatchDue(ports, lane, ({ id }) => ({ outcome: 'accepted', reference: `r${id}` }))
  await ports.deliveryReceipts.apply(ids.map((id) => aReceipt(`r${id}`, OUTCOME.delivered)))
  return ids
}

/** Returns the statuses of the messages without their numbers. */
const statesOf = async (ports: StoredPorts, account: AccountId, ids: readonly MessageId[]) =>
  (await statusesOf(ports, account, ids)).map((status) =>
    typeof status === 'string' ? status : { ...status, number: undefined },
  )

const numbersOf = ({ sentMessages }: StoredPorts, ids: readonly MessageId[]) =>
  Promise.all(ids.map(async (id) => (await sentMessages.trace(id))?.number))
const textsOf = async ({ personalData }: StoredPorts, ids: readonly MessageId[]) => {
  const texts = await personalData.texts(ids)
  return ids.map((id) => texts.get(id))
}

export const personalDataContract: Contract<StoredPorts> = {
  'texts are returned for messages in every place, and for no others': async (ports) => {
    const { id: account } = await anAccount(ports)
    const [first = 0, second = 0] = await delivered(ports, account, [number, other], 'to both')
    const { ids } = await accepted(ports, anOrder(account, { to: [number], text: 'later', due: farAhead }))
    const nobody = (2 ** 52) as MessageId
    const requestedIds = [first, second, ...ids, nobody] as MessageId[]
    assert.deepEqual(await textsOf(ports, requestedIds), ['to both', 'to both', 'later', undefined])
  },

  'inbound messages are found in every form of the number, also those that belong to no account': async (ports) => {
    const { id: account } = await anAccount(ports)
    await sent(ports, { id: account })
    await receive(ports, { text: 'a' }, { text: 'b', from: `+${number}` }, { text: 'c', from: other })
    await receive(ports, { text: 'd', from: `00${number}`, to: anAddress('40404') })
    const found = await collect(ports.personalData.inbound(number))
    assert.deepEqual(
      found.map(({ text, to }) => [text, to]),
      [
        ['a', anAddress()],
        ['b', anAddress()],
        ['d', '40404'],
      ],
    )
    assert.deepEqual(await collect(ports.personalData.inbound(aNumber('27820000200'))), [])
  },

  'a number is replaced in decided messages, and the text of a send with its last number; states, costs and balances stay':
    async (ports) => {
      const { id: account } = await anAccount(ports)
      const alone = await delivered(ports, account, [number], 'dear you')
      const both = await delivered(ports, account, [number, other], 'to both')
      const refused = await sent(ports, { id: account }, { outcome: 'refused' })
      const ids = [...alone, ...both, refused]
      const before = await statesOf(ports, account, ids)
      const balance = await ports.ledger.balance(account)
      assert.equal((await eraseAll(ports)).messages, 3)
      assert.deepEqual(await numbersOf(ports, ids), [erasedNumber, erasedNumber, other, erasedNumber])
      assert.deepEqual(await textsOf(ports, ids), ['', 'to both', 'to both', ''])
      assert.deepEqual(await statesOf(ports, account, ids), before)
      assert.deepEqual(await ports.sentMessages.search({ number }, longAgo, 10), [])
      await assertLedger(ports, balance)
      assert.equal((await eraseAll(ports, other)).messages, 1)
      assert.deepEqual(await textsOf(ports, both), ['', ''])
      await assertLedger(ports, balance)
    },

  'an erased message keeps the price that its carrier named, because a price names no number': async (ports) => {
    const { id: account } = await anAccount(ports)
    const { ids } = await accepted(ports, anOrder(account, { to: [number] }))
    const price = { amount: '0.0075', currency: 'USD' }
    await dispatchDue(ports, 'single', ({ id }) => ({ outcome: 'accepted', reference: `r${id}`, price }))
    await ports.deliveryReceipts.apply(ids.map((id) => aReceipt(`r${id}`, OUTCOME.delivered)))
    assert.equal((await eraseAll(ports)).messages, 1)
    const trace = await ports.sentMessages.trace(at(ids, 0))
    assert.deepEqual(trace?.place.place === 'decided' && trace.place.carrierPrice, price)
  },

  'waiting messages are not erased, nor those that may get a receipt, which then still finds its message': async (
    ports,
  ) => {
    const { id: account } = await anAccount(ports)
    const later = await accepted(ports, anOrder(account, { to: [number], text: 'later', due: farAhead }))
    const unreported = await sent(ports, { id: account })
    const unknown = await sent(ports, { id: account }, { outcome: 'unknown' })
    const { ids: due } = await accepted(ports, anOrder(account, { to: [number], text: 'due' }))
    const ids = [...later.ids, unreported, unknown, ...due]
    assert.deepEqual(await eraseAll(ports), nothingErased)
    assert.deepEqual(new Set(await numbersOf(ports, ids)), new Set([number]))
    const receipt = aReceipt(`r${unreported}`, OUTCOME.delivered, { number })
    assert.deepEqual(await ports.deliveryReceipts.apply([receipt]), [])
    const [status] = await statusesOf(ports, account, [unreported])
    assert.equal(typeof status === 'object' && status.code, OUTCOME.delivered)
    assert.equal((await eraseAll(ports)).messages, 1)
    const message = (await dispatchDue(ports, 'single', () => ({ outcome: 'refused' })))[0]
    assert.deepEqual([message?.to, message?.body.text], [number, 'due'])
  },

  'inbound messages lose number and text, and return-once calls no longer return them': async (ports) => {
    const { id: account } = await anAccount(ports)
    await delivered(ports, account, [number])
    await delivered(ports, account, [other])
    await receive(ports, { text: 'mine' }, { text: 'mine too', from: `+${number}` }, { text: 'theirs', from: other })
    assert.equal((await eraseAll(ports)).inbound, 2)
    assert.deepEqual(
      (await inboxOf(ports, account)).map(({ from, text }) => [from, text]),
      [
        [erasedNumber, ''],
        [erasedNumber, ''],
        [other, 'theirs'],
      ],
    )
    const { messages } = await ports.inbox.take(account, 'all', longAgo, 10)
    assert.deepEqual(
      messages.map(({ text }) => text),
      ['theirs'],
    )
    assert.deepEqual(await collect(ports.personalData.inbound(number)), [])
  },

  'opt-outs and blocks stay without the text of the reply; contacts are deleted': async (ports) => {
    const { id: account } = await anAccount(ports)
    const senders = [anAddress(), anAddress('12025550112')]
    await accepted(ports, anOrder(account, { to: [number], senders }))
    await dispatchDue(ports, 'single', () => ({ outcome: 'unknown' }))
    const [contact, ...more] = await ports.personalData.contacts(number)
    assert.ok(contact?.account === account && senders.includes(contact.address) && more.length === 0)
    await receive(ports, { text: 'Stop that', to: contact.address }, { text: 'STOP', to: contact.address })
    await dispatchDue(ports, 'single', () => ({ outcome: 'refused' }))
    await ports.suppressions.add({ scope: 'everybody', number, kind: 'blacklist', since: longAgo })
    const listed = await ports.personalData.suppressions(number)
    assert.deepEqual(
      listed.map(({ account: owner, kind, text }) => [owner, kind, text]),
      [
        [undefined, 'blacklist', undefined],
        [account, 'opt-out', 'STOP'],
      ],
    )
    const unread = { carrier: testCarrier, reference: 'r', text: '', pdu: '', isMessage: false }
    await ports.deliveryReceipts.storeUnread([
      { ...unread, number },
      { ...unread, number: undefined, text: `written by +${number}` },
      { ...unread, number: undefined, pdu: Array.from(`00${number}`, (digit) => `3${digit}`).join('') },
      { ...unread, number: other },
    ])
    assert.equal((await eraseAll(ports)).contacts, 1)
    assert.deepEqual(
      (await ports.deliveryReceipts.listUnread(undefined, 9)).map((receipt) => receipt.number),
      [other],
    )
    assert.deepEqual(await ports.personalData.contacts(number), [])
    const withoutTexts = listed.map((one) => ({ ...one, text: one.text === undefined ? undefined : '' }))
    assert.deepEqual(await ports.personalData.suppressions(number), withoutTexts)
    assert.equal((await optOutsOf(ports, account))[0]?.number, number)
  },

  'events about the number lose number and text, whether they wait or were pushed; other events stay': async (
    ports,
  ) => {
    const { id: account } = await anAccount(ports)
    const webhook = await added(ports, aWebhook(account, { withText: true, listSize: 2 }))
    const ofBoth = await delivered(ports, account, [number, other], 'to both')
    const pushed = await pushAll(ports)
    assert.equal(pushed.flatMap(eventsOf).length, 2)
    await receive(ports, { text: 'mine' }, { text: 'theirs', from: other })
    const waiting = await delivered(ports, account, [number], 'still to be pushed')
    assert.ok((await eraseAll(ports)).events > 0)
    await pushAll(ports)
    await replayed(ports, webhook, everything)
    const pushedData = (await pushAll(ports)).flatMap(eventsOf).map(({ data }) => {
      if ('from' in data) return [data.from, data.text]
      return 'number' in data ? [data.number, data.text] : assert.fail(data.type)
    })
    assert.deepEqual(
      pushedData.toSorted(),
      [
        [erasedNumber, 'to both'],
        [other, 'to both'],
        [erasedNumber, ''],
        [other, 'theirs'],
        [erasedNumber, ''],
      ].toSorted(),
    )
    assert.deepEqual(await numbersOf(ports, [...ofBoth, ...waiting]), [erasedNumber, other, erasedNumber])
  },

  'all of many messages are erased, and a repetition changes nothing': async (ports) => {
    const { id: account } = await anAccount(ports, { credits: 10_000 })
    const ids: MessageId[] = []
    for (let sends = 0; sends < 250; sends++) {
      const { ids: messageIds } = await accepted(ports, anOrder(account, { to: [number], text: `text ${sends}` }))
      ids.push(...messageIds)
    }
    await dispatchDue(ports, 'single', () => ({ outcome: 'refused' }))
    assert.equal((await eraseAll(ports)).messages, 250)
    assert.deepEqual(await eraseAll(ports), nothingErased)
    assert.deepEqual(new Set(await textsOf(ports, ids)), new Set(['']))
  },

  'numbers of one send that are erased concurrently are all erased': async (ports) => {
    const { id: account } = await anAccount(ports)
    const to = numbers(8)
    const { ids } = await accepted(ports, anOrder(account, { to, text: 'to eight' }))
    await dispatchDue(ports, 'single', () => ({ outcome: 'refused' }))
    await Promise.all(Array.from({ length: concurrentCallers }, (_, i) => eraseAll(ports, to[i % to.length])))
    assert.deepEqual(new Set(await numbersOf(ports, ids)), new Set([erasedNumber]))
    assert.deepEqual(new Set(await textsOf(ports, ids)), new Set(['']))
    await assertLedger(ports, 1000)
  },

  'a message that is sent during the erasure of its number either stays complete or waits with its number': async (
    ports,
  ) => {
    const { id: account } = await anAccount(ports, { credits: 10_000 })
    const sending = Array.from({ length: 40 }, async (_, i) => {
      const { ids } = await accepted(ports, anOrder(account, { to: [number], text: `text ${i}` }))
      return ids
    })
    const [ids] = await Promise.all([
      Promise.all(sending),
      dispatchDue(ports, 'single', ({ id }) => ({ outcome: 'accepted', reference: `r${id}` })),
      eraseAll(ports),
      eraseAll(ports),
    ])
    const all = ids.flat()
    assert.deepEqual(new Set(await numbersOf(ports, all)), new Set([number]))
    await dispatchDue(ports, 'single', ({ id }) => ({ outcome: 'accepted', reference: `r${id}` }))
    await ports.deliveryReceipts.apply(all.map((id) => aReceipt(`r${id}`, OUTCOME.delivered, { number })))
    const codes = (await statusesOf(ports, account, all)).map((status) => typeof status === 'object' && status.code)
    assert.deepEqual(new Set(codes), new Set<OutcomeCode>([OUTCOME.delivered]))
    assert.equal((await eraseAll(ports)).messages, 40)
  },

  'parts, receipts and replies for SMPP customers lose the number, and a waiting part ends as expired': async (
    ports,
  ) => {
    const { account, credential } = await aCustomer(ports)
    const code = anAddress('40404')
    await ports.senders.assign(code, account.id)
    const add = async (to: Msisdn) => {
      const part = await ports.smppParts.add(aPart(credential, [1, 2], { number: to, receipts: 1 }), 10)
      return typeof part === 'string' ? assert.fail(part) : part.id
    }
    const [part, otherPart] = [await add(number), await add(other)]
    await receive(ports, { from: number, to: code, text: 'a' }, { from: other, to: code, text: 'b' })
    await eraseAll(ports)
    assert.deepEqual(await codesOf(ports, account.id, [part, otherPart]), [OUTCOME.expired, 'waiting'])
    const [status] = await statusesOf(ports, account.id, [part])
    assert.equal(typeof status === 'object' && status.number, erasedNumber)
    const process = aProcess()
    const receivers = [{ account: account.id, credential: credential.id, room: 10 }]
    const deliveries = await ports.smppDeliveries.claim({ process, receivers, leaseSeconds: 60 })
    assert.deepEqual(
      deliveries.map((one) => (one.kind === 'reply' ? one.text : [one.message, one.number])),
      ['b', [part, erasedNumber]],
    )
  },

  'records have their time and operator, latest first; an interrupted erasure has no end': async ({ personalData }) => {
    const first = await personalData.begin({ digest: 'a', by: 'first' })
    const second = await personalData.begin({ digest: 'b', by: 'second' })
    const erased = { messages: 3, inbound: 2, contacts: 1, events: 4 }
    await personalData.end(first, erased)
    const [latest, before, ...more] = await personalData.erasures()
    assert.equal(more.length, 0)
    assert.ok(before?.ended !== undefined && before.ended >= before.begun)
    assert.deepEqual(
      [latest, before].map((one) => [one?.id, one?.digest, one?.by, one?.erased]),
      [
        [second, 'b', 'second', nothingErased],
        [first, 'a', 'first', erased],
      ],
    )
    assert.equal(latest?.ended, undefined)
  },
}

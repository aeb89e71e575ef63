import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { MessageId, Msisdn } from '@gateway/core/messages'
import { aCategory, aBody, aMessageId, aNumber, numbers } from '../builders.ts'
import { allAccepted, withTraffic, type Traffic } from './claimed-batches/traffic.ts'
import { traces } from './sent-messages/traces.ts'
import { combined, farAhead, longAgo, testCarrier, type Contract } from './shared.ts'

const nobody = aMessageId(2 ** 52)
const all = { since: longAgo, limit: 100 }
const idsOf = (messages: readonly { readonly id: MessageId }[]): readonly MessageId[] => messages.map(({ id }) => id)
const latestFirst = (ids: readonly MessageId[]): readonly MessageId[] => ids.toReversed()

async function deliver(traffic: Traffic, messagesMax: number): Promise<void> {
  const { ports } = traffic
  const holder = await traffic.dispatcher()
  const batch = await traffic.claim(holder, 'single', messagesMax)
  assert.equal(await ports.claimedBatches.mark(holder, batch.id, batch.messages.length), 'marked')
  await ports.claimedBatches.record(holder, allAccepted(batch))
}

/** Contract of the lists for account holders. */
const listing: Contract<StoredPorts> = withTraffic({
  'a sent message has its number, text, time and price of acceptance': async (traffic) => {
    const [by, text] = [await traffic.account(), 'Hello €'.repeat(30)]
    const [id = nobody] = await traffic.send(by, { numbers: [aNumber('27825550101')], text, costs: [25] })
    const [found] = await traffic.ports.sentMessages.list(by, all)
    assert.deepEqual(
      { ...found, accepted: 0, from: '' },
      {
        ...{ id, number: '27825550101', text, parts: aBody(text).parts, accepted: 0, scheduled: undefined },
        options: {},
        ...{ cost: 25, reference: undefined, from: '' },
      },
    )
    assert.ok(Math.abs((found?.accepted ?? 0) - Date.now()) < 3_600_000)
    assert.deepEqual(await traffic.ports.sentMessages.find(by, id), found)
    const [later = nobody] = await traffic.send(by, { due: farAhead })
    assert.equal((await traffic.ports.sentMessages.find(by, later))?.scheduled, farAhead)
  },

  'a message has the options of its send, scheduled or not': async (traffic) => {
    const by = await traffic.account()
    for (const due of [undefined, farAhead]) {
      const options = { validity: 90, priority: 2, flash: true, category: aCategory() } as const
      const [id = nobody] = await traffic.send(by, { ...options, ...(due && { due }) })
      assert.deepEqual((await traffic.ports.sentMessages.find(by, id))?.options, options)
    }
  },

  'messages are listed latest first, in pages that continue after the last message of the page before': async (
    traffic,
  ) => {
    const by = await traffic.account()
    const sent = [
      ...(await traffic.send(by)),
      ...(await traffic.send(by, { to: 5 })),
      ...(await traffic.send(by, { to: 2, due: farAhead })),
    ]
    const { sentMessages } = traffic.ports
    assert.deepEqual(idsOf(await sentMessages.list(by, all)), latestFirst(sent))
    assert.deepEqual(await sentMessages.list(by, { ...all, until: longAgo }), [])
    assert.deepEqual(idsOf(await sentMessages.list(by, { ...all, until: farAhead })), latestFirst(sent))
    const paged: MessageId[] = []
    for (let after: MessageId | undefined; ; after = paged.at(-1)) {
      const page = await sentMessages.list(by, { ...all, after, limit: 3 })
      paged.push(...idsOf(page))
      if (page.length < 3) break
    }
    assert.deepEqual(paged, latestFirst(sent))
    assert.deepEqual(await sentMessages.list(by, { ...all, since: farAhead }), [])
  },

  'an account sees no messages of another': async (traffic) => {
    const [by, other] = [await traffic.account(), await traffic.account()]
    await traffic.send(by)
    const [foreign = nobody] = await traffic.send(other)
    const { sentMessages } = traffic.ports
    assert.equal(await sentMessages.find(by, foreign), undefined)
    assert.equal(await sentMessages.find(by, nobody), undefined)
    assert.deepEqual(await sentMessages.list(by, { ...all, after: foreign }), [])
    assert.deepEqual(await sentMessages.list(by, { ...all, after: nobody }), [])
    assert.equal((await sentMessages.list(by, all)).length, 1)
  },

  'the last send to many has the number of people who opted out by answering it': async (traffic) => {
    const { ports } = traffic
    const [by, other] = [await traffic.account(), await traffic.account()]
    const to = numbers(5)
    assert.equal(await ports.sentMessages.lastSend(by, longAgo, 5), undefined)
    const ids = [
      ...(await traffic.send(by, { numbers: to })),
      ...(await traffic.send(by, { numbers: numbers(5, '01') })),
    ]
    await traffic.send(by, { to: 4 })
    await deliver(traffic, 100)
    const first = (await ports.sentMessages.list(by, all)).find(({ id }) => id === ids[0])
    const expected = { accepted: first?.accepted, messages: 10, optedOut: 0 }
    assert.deepEqual(await ports.sentMessages.lastSend(by, longAgo, 5), expected)
    const nothing = { sent: undefined, reference: undefined, offer: undefined, part: undefined }
    const say = (from: Msisdn | undefined, text: string) =>
      ports.inbox.receive([{ carrier: testCarrier, from: from ?? '', to: undefined, text, ...nothing }], aBody('Bye.'))
    await say(to[4], 'STOP')
    await say(numbers(5, '01')[4], 'STOP')
    await say(numbers(5, '01')[3], 'Thank you')
    assert.deepEqual(await ports.sentMessages.lastSend(by, longAgo, 5), { ...expected, optedOut: 2 })
    await say(to[4], 'START')
    assert.deepEqual(await ports.sentMessages.lastSend(by, longAgo, 5), { ...expected, optedOut: 1 })
    assert.equal(await ports.sentMessages.lastSend(by, farAhead, 5), undefined)
    assert.equal(await ports.sentMessages.lastSend(by, longAgo, 6), undefined)
    assert.equal(await ports.sentMessages.lastSend(other, longAgo, 1), undefined)
  },

  'confirmations of opt-outs are not listed': async (traffic) => {
    const { ports } = traffic
    const by = await traffic.account()
    const [number = aNumber()] = numbers(1)
    await traffic.send(by, { numbers: [number] })
    await deliver(traffic, 1)
    const from = (await ports.sentMessages.list(by, all))[0]?.from
    const nothing = { sent: undefined, reference: undefined, offer: undefined, part: undefined }
    const stop = { carrier: testCarrier, from: number, to: from, text: 'STOP', ...nothing }
    assert.deepEqual(await ports.inbox.receive([stop], aBody('You are out.')), ['stored'])
    assert.equal((await ports.sentMessages.list(by, all)).length, 1)
    const confirmed = aMessageId(((await ports.sentMessages.list(by, all))[0]?.id ?? 0) + 1)
    assert.equal(await ports.sentMessages.find(by, confirmed), undefined)
  },

  'during concurrent acceptances a page has each message once': async (traffic) => {
    const by = await traffic.account()
    const sends = Array.from({ length: 20 }, () => traffic.send(by, { to: 2 }))
    const pages = Array.from({ length: 20 }, () => traffic.ports.sentMessages.list(by, all))
    for (const page of await Promise.all(pages)) assert.equal(new Set(idsOf(page)).size, page.length)
    await Promise.all(sends)
    assert.equal((await traffic.ports.sentMessages.list(by, all)).length, 40)
  },
})

export const sentMessagesContract: Contract<StoredPorts> = combined(listing, traces)

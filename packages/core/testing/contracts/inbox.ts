import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import { instant } from '@gateway/core/time'
import { anAccount, anAddress, anOrder, aNumber, numbers } from '../builders.ts'
import { realClock } from '../memory/clock.ts'
import { confirmation, inboxOf, onlyOf, optOutsOf, receive, sent, texts, textsOf } from './inbox/inbound-messages.ts'
import { conversations } from './inbox/conversations.ts'
import { agreeing, optingOut } from './inbox/opting-out.ts'
import { repeating } from './inbox/repeating.ts'
import {
  combined,
  accepted,
  at,
  concurrentCallers,
  collect,
  dispatchDue,
  longAgo,
  testCarrier,
  type Contract,
} from './shared.ts'

const [poolA, poolB] = [anAddress('12025550111'), anAddress('12025550112')]
const code = anAddress('40404')

/** Contract of the owner of an inbound message and the message that it answers (ruling 1.18). */
const owning: Contract<StoredPorts> = {
  'a reply belongs to the account that last wrote to its sender, and answers that message': async (ports) => {
    const [one, two] = [await anAccount(ports), await anAccount(ports)]
    await sent(ports, one)
    const last = await sent(ports, two)
    const before = realClock().now() - 60_000
    assert.deepEqual(await receive(ports, { text: 'Grüße €  😀 ' }), ['stored'])
    const message = await onlyOf(ports, two.id)
    const { id, at: received, ...rest } = message
    assert.deepEqual(rest, { from: aNumber(), text: 'Grüße €  😀 ', answers: last, shortCode: undefined })
    assert.ok(Number.isSafeInteger(id) && id > 0)
    assert.ok(received > before && received < before + 120_000, 'when it was received')
    assert.deepEqual(await inboxOf(ports, one.id), [])
    assert.deepEqual(await inboxOf(ports, two.id, 'replies'), [message])
    assert.deepEqual(await inboxOf(ports, two.id, 'short-code'), [])
  },

  'if two accounts have own addresses, each gets the replies to its address, however old its message is': async (
    ports,
  ) => {
    const [one, two] = [await anAccount(ports), await anAccount(ports)]
    const ofOne = await sent(ports, one, { from: poolA })
    const ofTwo = await sent(ports, two, { from: poolB })
    await receive(ports, { to: poolA, text: 'to one' }, { to: poolB, text: 'to two' })
    assert.deepEqual([(await onlyOf(ports, one.id)).answers, (await onlyOf(ports, two.id)).answers], [ofOne, ofTwo])
    assert.deepEqual([await texts(ports, one.id), await texts(ports, two.id)], [['to one'], ['to two']])
  },

  'for an unknown or missing address every message to the number counts': async (ports) => {
    const { id } = await anAccount(ports)
    const last = await sent(ports, { id }, { from: poolA })
    await receive(ports, { to: '999000111' }, { to: undefined }, { to: 'SERVICE' })
    assert.deepEqual(
      (await inboxOf(ports, id)).map(({ answers }) => answers),
      [last, last, last],
    )
  },

  'a reply to a known address from which nobody wrote to the number belongs to nobody': async (ports) => {
    const [one, two] = [await anAccount(ports), await anAccount(ports)]
    await sent(ports, one, { from: poolA })
    await sent(ports, two, { from: poolB, to: aNumber('27820000002') })
    await receive(ports, { to: poolB, text: 'lost' })
    assert.deepEqual([await texts(ports, one.id), await texts(ports, two.id)], [[], []])
    const [lost, ...more] = await collect(ports.inbox.unowned())
    assert.ok(lost !== undefined && more.length === 0)
    const { id, at: received, ...rest } = lost
    assert.deepEqual(rest, { carrier: testCarrier, from: aNumber(), to: poolB, text: 'lost' })
    assert.ok(id > 0 && received > 0)
  },

  'a leading + of addresses is ignored': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await receive(ports, { from: `+${aNumber()}`, to: `+${anAddress()}` })
    assert.equal((await onlyOf(ports, id)).from, aNumber())
  },

  'refused, deleted and waiting messages are not answered; messages that a carrier may have accepted are': async (
    ports,
  ) => {
    const [one, two] = [await anAccount(ports), await anAccount(ports)]
    const unknown = await sent(ports, one, { outcome: 'unknown' })
    await sent(ports, two, { outcome: 'refused' })
    await accepted(ports, anOrder(two.id, { to: [aNumber()], due: instant(Date.UTC(2201, 0, 1)) }))
    await accepted(ports, anOrder(two.id, { to: [aNumber()] }))
    await receive(ports, {})
    assert.equal((await onlyOf(ports, one.id)).answers, unknown)
    assert.deepEqual(await inboxOf(ports, two.id), [])
  },

  'a reply that arrives before the record of its message finds the message': async (ports) => {
    const { id } = await anAccount(ports)
    const { ids } = await accepted(ports, anOrder(id, { to: numbers(3) }))
    const dispatcher = await ports.claimedBatches.register(600)
    const claimRequest = {
      carrier: testCarrier,
      lane: 'single',
      messagesMax: 3,
      markedMax: 2,
      leaseSeconds: 600,
    } as const
    await ports.claimedBatches.claim(dispatcher, claimRequest)
    await receive(ports, { from: at(numbers(3), 1) }, { from: at(numbers(3), 2), text: 'not marked' })
    assert.equal((await onlyOf(ports, id)).answers, ids[1])
    assert.equal((await collect(ports.inbox.unowned())).length, 1)
  },

  'a message to a code belongs to the owner of the code, also as a first message, and answers the last message to its sender':
    async (ports) => {
      const [one, two] = [await anAccount(ports), await anAccount(ports)]
      assert.equal(await ports.senders.assign(code, one.id), 'assigned')
      await sent(ports, two, { from: poolA })
      await receive(ports, { to: code, text: 'first' })
      const own = await sent(ports, one, { from: poolA })
      await sent(ports, two, { from: poolA })
      await receive(ports, { to: code, text: 'second' })
      const messages = await inboxOf(ports, one.id, 'short-code')
      assert.deepEqual(
        messages.map(({ text, answers, shortCode }) => ({ text, answers, shortCode })),
        [
          { text: 'first', answers: undefined, shortCode: code },
          { text: 'second', answers: own, shortCode: code },
        ],
      )
      assert.deepEqual(await texts(ports, one.id, 'replies'), [])
      assert.deepEqual(await inboxOf(ports, one.id), messages)
      assert.deepEqual(await inboxOf(ports, two.id), [])
    },

  'a released code is an address like any other': async (ports) => {
    const { id } = await anAccount(ports)
    await ports.senders.assign(code, id)
    const last = await sent(ports, { id }, { from: code })
    await ports.senders.release(code)
    await receive(ports, { to: code, text: 'reply' }, { to: code, from: '27820000002', text: 'nobody' })
    const { answers, shortCode } = await onlyOf(ports, id)
    assert.deepEqual([answers, shortCode], [last, undefined])
  },

  'a message from an invalid number belongs to nobody unless it was sent to a code': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await ports.senders.assign(code, id)
    await receive(ports, { from: 'INFO', text: 'STOP' }, { from: '110', to: code, text: 'STOP' })
    assert.deepEqual(await texts(ports, id), ['STOP'])
    assert.deepEqual(await optOutsOf(ports, id), [])
    assert.equal((await collect(ports.inbox.unowned())).length, 1)
  },

  'a text that the store cannot represent is stored with as few replacements as possible': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await receive(ports, { text: 'a\0b\ud83dc' }, { text: '' })
    assert.deepEqual(await texts(ports, id), ['a\ufffdb\ufffdc', ''])
  },

  'messages are listed in order of arrival, in pages': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const every = Array.from({ length: 25 }, (_, i) => `text ${i}`)
    await receive(ports, ...every.slice(0, 20).map((text) => ({ text })))
    for (const text of every.slice(20)) await receive(ports, { text })
    const page = async (offset: number, limit: number) => {
      const { total, items } = await ports.inbox.list(id, 'all', instant(0), { offset, limit })
      return { total, texts: items.map(({ text }) => text) }
    }
    assert.deepEqual(await page(0, 10), { total: 25, texts: every.slice(0, 10) })
    assert.deepEqual(await page(18, 10), { total: 25, texts: every.slice(18) })
    assert.deepEqual(await page(25, 10), { total: 25, texts: [] })
    const soon = instant(realClock().now() + 3_600_000)
    assert.deepEqual(await ports.inbox.list(id, 'all', soon, { offset: 0, limit: 10 }), { total: 0, items: [] })
  },

  'an empty list of messages has no effect': async (ports) => {
    assert.deepEqual(await ports.inbox.receive([], confirmation), [])
    assert.equal(await dispatchDue(ports, 'single', () => ({ outcome: 'unknown' })).then(({ length }) => length), 0)
  },
}

const many = Array.from({ length: 200 }, (_, i) => `text ${i}`)

/** Contract of the return-once calls (P-9; ruling 1.20). */
const taking: Contract<StoredPorts> = {
  'a consumed message is never returned again by a return-once call, and stays in the lists': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await receive(ports, { text: 'a' }, { text: 'b' })
    const listed = await inboxOf(ports, id)
    assert.deepEqual((await ports.inbox.take(id, 'all', longAgo, 10)).messages, listed)
    assert.deepEqual((await ports.inbox.take(id, 'all', longAgo, 10)).messages, [])
    await receive(ports, { text: 'c' })
    assert.deepEqual(textsOf((await ports.inbox.take(id, 'replies', longAgo, 10)).messages), ['c'])
    assert.deepEqual(await texts(ports, id), ['a', 'b', 'c'])
  },

  'a return-once call returns the oldest messages up to the maximum; the next call returns the rest': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await receive(ports, ...many.map((text) => ({ text })))
    const first = await ports.inbox.take(id, 'all', longAgo, 150)
    assert.deepEqual(textsOf(first.messages), many.slice(0, 150))
    assert.deepEqual(textsOf((await ports.inbox.take(id, 'all', longAgo, 150)).messages), many.slice(150))
  },

  'messages offered again are returned again in their place, also if offered twice': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await receive(ports, ...many.slice(0, 4).map((text) => ({ text })))
    const first = await ports.inbox.take(id, 'all', longAgo, 2)
    const second = await ports.inbox.take(id, 'all', longAgo, 1)
    await ports.inbox.offerAgain(id, first.taking)
    await ports.inbox.offerAgain(id, first.taking)
    const third = await ports.inbox.take(id, 'all', longAgo, 10)
    assert.deepEqual(textsOf(second.messages), ['text 2'])
    assert.deepEqual(textsOf(third.messages), ['text 0', 'text 1', 'text 3'])
    await ports.inbox.offerAgain(id, first.taking)
    assert.deepEqual((await ports.inbox.take(id, 'all', longAgo, 10)).messages, [], 'no longer its own')
  },

  'an account cannot offer messages again that another account consumed': async (ports) => {
    const [one, two] = [await anAccount(ports), await anAccount(ports)]
    await sent(ports, one)
    await receive(ports, {})
    const { taking: taking } = await ports.inbox.take(one.id, 'all', longAgo, 1)
    await ports.inbox.offerAgain(two.id, taking)
    assert.deepEqual((await ports.inbox.take(one.id, 'all', longAgo, 1)).messages, [])
    assert.deepEqual((await ports.inbox.take(two.id, 'all', longAgo, 1)).messages, [])
  },

  'messages to a code are among all messages, and can also be returned alone or left out (ruling 1.19)': async (
    ports,
  ) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await ports.senders.assign(code, id)
    await receive(ports, { text: 'reply' }, { to: code, text: 'code 1' }, { to: code, text: 'code 2' })
    assert.deepEqual(textsOf((await ports.inbox.take(id, 'replies', longAgo, 10)).messages), ['reply'])
    assert.deepEqual(textsOf((await ports.inbox.take(id, 'short-code', longAgo, 1)).messages), ['code 1'])
    assert.deepEqual(textsOf((await ports.inbox.take(id, 'all', longAgo, 10)).messages), ['code 2'])
    assert.deepEqual((await ports.inbox.take(id, 'short-code', longAgo, 10)).messages, [])
  },

  'messages beyond the age limit are not returned by return-once calls, but still stored': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await receive(ports, {})
    const soon = instant(realClock().now() + 3_600_000)
    assert.deepEqual((await ports.inbox.take(id, 'all', soon, 10)).messages, [])
    assert.equal((await ports.inbox.take(id, 'all', longAgo, 10)).messages.length, 1)
  },

  'concurrent callers get different messages while others arrive and some are offered again': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await receive(ports, ...many.map((text) => ({ text })))
    const got: string[] = []
    const poll = async (i: number): Promise<void> => {
      if (i % 8 === 0) await receive(ports, { text: `late ${i}` })
      const { taking: taking, messages } = await ports.inbox.take(id, 'all', longAgo, 7)
      if (i % 3 === 0) await ports.inbox.offerAgain(id, taking)
      else got.push(...textsOf(messages))
    }
    await Promise.all(Array.from({ length: concurrentCallers }, (_, i) => poll(i)))
    for (;;) {
      const { messages } = await ports.inbox.take(id, 'all', longAgo, 50)
      if (messages.length === 0) break
      got.push(...textsOf(messages))
    }
    assert.deepEqual([...got].sort(), [...(await texts(ports, id))].sort())
  },
}

/** Contract of the port `Inbox`, including opt-outs. */
export const inboxContract: Contract<StoredPorts> = combined(
  agreeing,
  owning,
  repeating,
  optingOut,
  taking,
  conversations,
)

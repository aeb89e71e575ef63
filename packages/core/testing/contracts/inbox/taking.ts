import { strict as assert } from 'node:assert'
import { instant, type StoredPorts } from '@gateway/core'
import { anAccount, anAddress } from '../../builders.ts'
import { realClock } from '../../memory/clock.ts'
import type { Contract } from '../contract.ts'
import { callersMany, longAgo } from '../shared.ts'
import { inboxOf, receive, sent, texts, textsOf } from './inbound-messages.ts'

const code = anAddress('40404')
const many = Array.from({ length: 200 }, (_, i) => `text ${i}`)

/** Return once (P-9; ruling 1.20). */
export const taking: Contract<StoredPorts> = {
  'what is taken is never taken again, and stays in the lists': async (ports) => {
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

  'the oldest first, at most so many; the next call has the rest': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await receive(ports, ...many.map((text) => ({ text })))
    const first = await ports.inbox.take(id, 'all', longAgo, 150)
    assert.deepEqual(textsOf(first.messages), many.slice(0, 150))
    assert.deepEqual(textsOf((await ports.inbox.take(id, 'all', longAgo, 150)).messages), many.slice(150))
  },

  'offered again, it is taken again in its place; that may be said twice': async (ports) => {
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

  'nobody offers again what another account took': async (ports) => {
    const [one, two] = [await anAccount(ports), await anAccount(ports)]
    await sent(ports, one)
    await receive(ports, {})
    const { taking: taken } = await ports.inbox.take(one.id, 'all', longAgo, 1)
    await ports.inbox.offerAgain(two.id, taken)
    assert.deepEqual((await ports.inbox.take(one.id, 'all', longAgo, 1)).messages, [])
    assert.deepEqual((await ports.inbox.take(two.id, 'all', longAgo, 1)).messages, [])
  },

  'messages to a code are among all that is taken, and can be taken or left apart (ruling 1.19)': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await ports.senders.assign(code, id)
    await receive(ports, { text: 'reply' }, { to: code, text: 'code 1' }, { to: code, text: 'code 2' })
    assert.deepEqual(textsOf((await ports.inbox.take(id, 'replies', longAgo, 10)).messages), ['reply'])
    assert.deepEqual(textsOf((await ports.inbox.take(id, 'short-code', longAgo, 1)).messages), ['code 1'])
    assert.deepEqual(textsOf((await ports.inbox.take(id, 'all', longAgo, 10)).messages), ['code 2'])
    assert.deepEqual((await ports.inbox.take(id, 'short-code', longAgo, 10)).messages, [])
  },

  'what is too old is not taken, and not lost either': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await receive(ports, {})
    const soon = instant(realClock().now() + 3_600_000)
    assert.deepEqual((await ports.inbox.take(id, 'all', soon, 10)).messages, [])
    assert.equal((await ports.inbox.take(id, 'all', longAgo, 10)).messages.length, 1)
  },

  'of many callers each gets other messages, while more arrive and some are offered again': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await receive(ports, ...many.map((text) => ({ text })))
    const got: string[] = []
    const poll = async (i: number): Promise<void> => {
      if (i % 8 === 0) await receive(ports, { text: `late ${i}` })
      const { taking: taken, messages } = await ports.inbox.take(id, 'all', longAgo, 7)
      if (i % 3 === 0) await ports.inbox.offerAgain(id, taken)
      else got.push(...textsOf(messages))
    }
    await Promise.all(Array.from({ length: callersMany }, (_, i) => poll(i)))
    for (;;) {
      const { messages } = await ports.inbox.take(id, 'all', longAgo, 50)
      if (messages.length === 0) break
      got.push(...textsOf(messages))
    }
    assert.deepEqual([...got].sort(), [...(await texts(ports, id))].sort())
  },
}

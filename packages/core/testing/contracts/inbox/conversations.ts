import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import { firstErasureStep, type ErasureStep } from '@gateway/core/personal-data'
import { anAccount, aNumber } from '../../builders.ts'
import { receive, sent, textsOf } from './inbound-messages.ts'
import { concurrentCallers, farAhead, longAgo, type Contract } from '../shared.ts'

const [ann, ben] = [aNumber('27820000001'), aNumber('27820000002')]
const page = { unreadOnly: false, limit: 100 }

/** Opens an account that has a message from each of the two persons. */
async function known(ports: StoredPorts): Promise<AccountId> {
  const account = await anAccount(ports)
  for (const to of [ann, ben]) await sent(ports, account, { to })
  return account.id
}

const listed = async ({ inbox }: StoredPorts, by: AccountId, unreadOnly = false) =>
  (await inbox.listConversations(by, longAgo, { ...page, unreadOnly })).map(({ last, unread }) => [last.text, unread])

/** Contract of the conversations of an inbox. */
export const conversations: Contract<StoredPorts> = {
  'each person is listed once, with the latest message and the number of unread ones, latest first': async (ports) => {
    const by = await known(ports)
    await receive(ports, { from: ann, text: 'a 1' }, { from: ben, text: 'b 1' }, { from: ben, text: 'b 2' })
    assert.deepEqual(await listed(ports, by), [
      ['b 2', 2],
      ['a 1', 1],
    ])
    await receive(ports, { from: ann, text: 'a 2' })
    assert.deepEqual(await listed(ports, by), [
      ['a 2', 2],
      ['b 2', 2],
    ])
    const [first] = await ports.inbox.listConversations(by, longAgo, { ...page, limit: 1 })
    assert.equal(first?.last.from, ann)
    const rest = await ports.inbox.listConversations(by, longAgo, { ...page, before: first.last.id })
    assert.deepEqual(
      rest.map(({ last }) => last.text),
      ['b 2'],
    )
    assert.deepEqual(await ports.inbox.listConversations(by, farAhead, page), [])
  },

  'a conversation is returned in pages, latest first, with the number of read messages': async (ports) => {
    const by = await known(ports)
    await receive(ports, ...['1', '2', '3'].map((text) => ({ from: ann, text })), { from: ben })
    const found = await ports.inbox.findConversation(by, ann, longAgo, { limit: 2 })
    assert.deepEqual([found?.arrived, found?.read, textsOf(found?.messages ?? [])], [3, 0, ['3', '2']])
    const before = found?.messages.at(-1)?.id
    const rest = await ports.inbox.findConversation(by, ann, longAgo, { limit: 2, before })
    assert.deepEqual(textsOf(rest?.messages ?? []), ['1'])
    assert.equal(await ports.inbox.findConversation(by, ann, farAhead, { limit: 2 }), undefined)
    assert.equal(await ports.inbox.findConversation(by, aNumber(), longAgo, { limit: 2 }), undefined)
  },

  'seen messages are marked as read, and messages that arrived meanwhile are not': async (ports) => {
    const by = await known(ports)
    await receive(ports, { from: ann, text: '1' }, { from: ben, text: 'b' })
    const seen = await ports.inbox.findConversation(by, ann, longAgo, { limit: 9 })
    await receive(ports, { from: ann, text: '2' })
    await ports.inbox.markRead(by, ann, seen?.arrived ?? 0)
    assert.deepEqual(await listed(ports, by, true), [
      ['2', 1],
      ['b', 1],
    ])
    await ports.inbox.markRead(by, ann, 2)
    // A lower mark does not undo a higher one, and a mark never exceeds the arrived messages.
    await ports.inbox.markRead(by, ann, 1)
    await ports.inbox.markRead(by, ben, 1000)
    assert.deepEqual(await listed(ports, by, true), [])
    await receive(ports, { from: ben, text: 'b 2' })
    assert.deepEqual(await listed(ports, by, true), [['b 2', 1]])
    assert.equal(await ports.inbox.countUnreadConversations(by, longAgo, 100), 1)
  },

  'unread conversations are counted up to a limit': async (ports) => {
    const by = await known(ports)
    assert.equal(await ports.inbox.countUnreadConversations(by, longAgo, 100), 0)
    await receive(ports, { from: ann }, { from: ben }, { from: ben })
    assert.equal(await ports.inbox.countUnreadConversations(by, longAgo, 100), 2)
    assert.equal(await ports.inbox.countUnreadConversations(by, longAgo, 1), 1)
    assert.equal(await ports.inbox.countUnreadConversations(by, farAhead, 100), 0)
  },

  'reading has no effect on return-once calls, and these mark nothing as read': async (ports) => {
    const by = await known(ports)
    await receive(ports, { from: ann, text: '1' }, { from: ann, text: '2' })
    await ports.inbox.markRead(by, ann, 1)
    assert.deepEqual(textsOf((await ports.inbox.take(by, 'all', longAgo, 10)).messages), ['1', '2'])
    assert.deepEqual(await listed(ports, by), [['2', 1]])
  },

  'an account cannot see or mark conversations of another': async (ports) => {
    const [by, other] = [await known(ports), await anAccount(ports)]
    await receive(ports, { from: ann })
    assert.deepEqual(await listed(ports, other.id), [])
    assert.equal(await ports.inbox.findConversation(other.id, ann, longAgo, { limit: 9 }), undefined)
    await ports.inbox.markRead(other.id, ann, 1)
    assert.deepEqual(await listed(ports, by), [['hello', 1]])
  },

  'no conversation remains of an erased number': async (ports) => {
    const by = await known(ports)
    await receive(ports, { from: ann }, { from: ben, text: 'b' })
    for (let step: ErasureStep | undefined = firstErasureStep; step !== undefined;)
      step = (await ports.personalData.erase(ann, step)).next
    assert.deepEqual(await listed(ports, by), [['b', 1]])
    assert.equal(await ports.inbox.findConversation(by, ann, longAgo, { limit: 9 }), undefined)
  },

  'with concurrent arrivals and reads each message is counted once': async (ports) => {
    const by = await known(ports)
    await Promise.all(
      Array.from({ length: concurrentCallers }, async (_, i) => {
        const from = i % 3 === 0 ? ann : ben
        const other = from === ann ? ben : ann
        await receive(ports, { from, text: `text ${i}` }, { from: other, text: `text ${i}` })
        if (i % 8 > 0) return
        const seen = await ports.inbox.findConversation(by, from, longAgo, { limit: 1000 })
        // Both numbers come from one snapshot.
        assert.equal(seen?.messages.length, seen?.arrived)
        await ports.inbox.markRead(by, from, seen?.arrived ?? 0)
      }),
    )
    for (const from of [ann, ben]) {
      const found = await ports.inbox.findConversation(by, from, longAgo, { limit: 1000 })
      assert.deepEqual([found?.arrived, found?.messages.length], [concurrentCallers, concurrentCallers])
      await ports.inbox.markRead(by, from, concurrentCallers)
    }
    assert.equal(await ports.inbox.countUnreadConversations(by, longAgo, 100), 0)
  },
}

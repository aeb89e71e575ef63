import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import { bodyOf, INCIDENT, OUTCOME, type MessageId, type Order } from '@gateway/core/messages'
import { AnswerDeadline } from '@gateway/core/messages'
import { readCodedParts } from '@gateway/core/inbox'
import { credits } from '@gateway/core/credits'
import type { NewPart, SmppCredential, WholeText } from '@gateway/core/smpp-customers'
import { defaultSenders } from '@gateway/core/messages'
import { aNumber, anAccount } from '../builders.ts'
import { aCustomer, aPart } from '../smpp.ts'
import { until } from '../until.ts'
import { assertLedger, at, codesOf, concurrentCallers, dispatchDue, longAgo, type Contract } from './shared.ts'

const many = 10_000

async function add(ports: StoredPorts, part: NewPart) {
  const added = await ports.smppParts.add(part, many)
  if (typeof added === 'string') return assert.fail(`the part was refused: ${added}`)
  return { id: added.id, whole: await added.whole }
}

/** Stores the parts of a text in this order, and returns their ids by place and the whole text. */
async function addAll(ports: StoredPorts, credential: SmppCredential, places: readonly number[], changes = {}) {
  const ids: MessageId[] = []
  let text: WholeText | undefined
  for (const place of places) {
    const { id, whole } = await add(ports, aPart(credential, [place, places.length], changes))
    ids[place - 1] = id
    text = whole
  }
  return { ids, whole: text ?? assert.fail('the text is not whole') }
}

/** Returns the order of a whole text. */
function orderOf(parts: WholeText, cost = 10): Order {
  const { account, number, options } = at(parts, 0)
  const body = bodyOf(readCodedParts(parts.map(({ coded }) => coded)).join(''))
  if (typeof body === 'string') throw new Error(body)
  const smpp = { ...options.smpp, parts: parts.map(({ id }) => ({ id })) }
  const texts = [{ body, due: undefined, options: { ...options, smpp }, to: [{ number, cost: credits(cost) }] }]
  return { account, senders: defaultSenders, texts }
}

const join = (ports: StoredPorts, parts: WholeText, cost?: number) =>
  ports.smppParts.join(
    parts.map(({ id }) => id),
    orderOf(parts, cost),
  )

const submit = (ports: StoredPorts) => dispatchDue(ports, 'single', () => ({ outcome: 'unknown' }))

/** Contract of the port `SmppParts`, and of `Messages` for ids of parts (rulings 5.1, 5.2). */
export const smppPartsContract: Contract<StoredPorts> = {
  'a part waits at no cost under an id of the common sequence, and its text is whole with the last part, in any order':
    async (ports) => {
      const { account, credential } = await aCustomer(ports)
      const parts = [3, 1, 2].map((place) => aPart(credential, [place, 3]))
      const ids: MessageId[] = []
      for (const [i, part] of parts.entries()) {
        const { id, whole } = await add(ports, part)
        ids.push(id)
        assert.deepEqual(
          whole?.map(({ part }) => part),
          i < 2 ? undefined : [1, 2, 3],
        )
      }
      assert.equal(new Set(ids).size, 3)
      assert.equal(await ports.smppParts.waiting(account.id), 3)
      const statuses = await ports.messages.status(account.id, ids, longAgo)
      assert.deepEqual(statuses, Array(3).fill({ code: 'waiting', number: aNumber(), cost: 0 }))
      const other = await anAccount(ports)
      assert.deepEqual(await codesOf(ports, other.id, ids), Array(3).fill('not-found'))
      assert.deepEqual(await submit(ports), [])
      await assertLedger(ports)
    },

  'a stored part has all its fields': async (ports) => {
    const { credential } = await aCustomer(ports)
    const coded = { coding: 'ucs-2', octets: 'd83d' } as const
    const options = { smpp: { credential: credential.id, receipts: 17, source: { address: 'Acme', ton: 5, npi: 0 } } }
    const first = aPart(credential, [1, 2], { coded, options: { ...options, priority: 2, flash: true } })
    await add(ports, first)
    const { whole } = await add(ports, aPart(credential, [2, 2]))
    const { id: _, ...stored } = at(whole ?? [], 0)
    assert.deepEqual(stored, first)
  },

  'a joined text is one charged message under the id of its first part, found by every id of its account': async (
    ports,
  ) => {
    const { account, credential } = await aCustomer(ports, { credits: 100 })
    const { ids, whole } = await addAll(ports, credential, [2, 1, 3])
    assert.equal(await join(ports, whole, 30), 'joined')
    assert.equal(await join(ports, whole, 30), 'over')
    assert.equal(await ports.smppParts.waiting(account.id), 0)
    const [sent, ...others] = await submit(ports)
    assert.deepEqual([sent?.id, sent?.body.text, others], [ids[0], 'part 1 part 2 part 3 ', []])
    const statuses = await ports.messages.status(account.id, ids, longAgo)
    for (const status of statuses) assert.deepEqual(status, statuses[0])
    assert.deepEqual(await codesOf(ports, account.id, ids), Array(3).fill(OUTCOME.unknown))
    for (const id of ids) {
      assert.equal((await ports.sentMessages.find(account.id, id))?.id, ids[0])
      assert.equal((await ports.sentMessages.trace(id))?.id, ids[0])
    }
    assert.equal(await ports.ledger.balance(account.id), 70)
    await assertLedger(ports)
  },

  'of 64 callers that complete a text at once with different parts, at least one gets it, and one joins it': async (
    ports,
  ) => {
    const { account, credential } = await aCustomer(ports)
    const added = await Promise.all(
      Array.from({ length: concurrentCallers }, (_, i) => add(ports, aPart(credential, [i + 1, concurrentCallers]))),
    )
    const wholes = added.flatMap(({ whole }) => (whole === undefined ? [] : [whole]))
    assert.ok(wholes.length > 0)
    const results = await Promise.all([...wholes, at(wholes, 0), at(wholes, 0)].map((whole) => join(ports, whole)))
    assert.equal(results.filter((result) => result === 'joined').length, 1)
    assert.ok(results.every((result) => result !== 'refused'))
    assert.equal((await submit(ports)).length, 1)
    assert.equal(await ports.ledger.balance(account.id), 990)
  },

  'a part that comes twice counts once under its first id, and one with another content is refused while the first one waits':
    async (ports) => {
      const { credential } = await aCustomer(ports)
      const part = aPart(credential, [1, 2])
      const copies = await Promise.all(Array.from({ length: concurrentCallers }, () => add(ports, part)))
      assert.equal(new Set(copies.map(({ id }) => id)).size, 1)
      assert.equal(await ports.smppParts.add(aPart(credential, [1, 2], { text: 'other' }), many), 'another-part')
      for (const changes of [{ reference: '16:17' }, { number: aNumber('27820000001') }])
        assert.notEqual((await add(ports, { ...part, ...changes })).id, at(copies, 0).id)
      const { whole } = await add(ports, aPart(credential, [2, 2]))
      assert.equal(await join(ports, whole ?? []), 'joined')
      assert.notEqual((await add(ports, part)).id, at(copies, 0).id)
    },

  'an account has at most so many waiting parts as permitted': async (ports) => {
    const { account, credential } = await aCustomer(ports)
    const other = await aCustomer(ports)
    const part = (place: number) => aPart(credential, [place, 9])
    for (const place of [1, 2, 3]) assert.ok(typeof (await ports.smppParts.add(part(place), 3)) === 'object')
    assert.equal(await ports.smppParts.add(part(4), 3), 'too-many-parts')
    assert.ok(typeof (await ports.smppParts.add(part(3), 3)) === 'object')
    assert.ok(typeof (await ports.smppParts.add(aPart(other.credential, [1, 2]), 3)) === 'object')
    assert.equal(await ports.smppParts.waiting(account.id), 3)
  },

  'parts without credits, of a locked account or of a refused text end with the code of the refusal at no cost': async (
    ports,
  ) => {
    const poor = await aCustomer(ports, { credits: 5 })
    const locked = await aCustomer(ports)
    const refused = await aCustomer(ports)
    const texts = []
    for (const { credential } of [poor, locked, refused]) texts.push(await addAll(ports, credential, [1, 2]))
    await ports.accounts.setLocked(locked.account.id, true)
    const [a, b, c] = [at(texts, 0), at(texts, 1), at(texts, 2)]
    assert.deepEqual([await join(ports, a.whole), await join(ports, b.whole)], ['refused', 'refused'])
    const refuse = () => ports.smppParts.refuse(c.ids, OUTCOME.blacklisted)
    const results = await Promise.all([refuse(), refuse(), refuse()])
    assert.deepEqual(results.filter(Boolean), [true])
    assert.equal(await join(ports, c.whole), 'over')
    const expected = [OUTCOME.insufficientCredits, OUTCOME.accountLocked, OUTCOME.blacklisted]
    for (const [i, { account }] of [poor, locked, refused].entries()) {
      const statuses = await ports.messages.status(account.id, at(texts, i).ids, longAgo)
      for (const status of statuses) {
        assert.ok(typeof status === 'object' && status.code !== 'waiting')
        assert.deepEqual([status.code, status.cost, status.staysCharged], [expected[i], 0, false])
      }
    }
    assert.deepEqual(await submit(ports), [])
    assert.equal(await ports.ledger.balance(poor.account.id), 5)
    await assertLedger(ports)
  },

  'a join and a refusal at once decide one way': async (ports) => {
    const { account, credential } = await aCustomer(ports)
    for (let i = 0; i < 8; i++) {
      const { ids, whole } = await addAll(ports, credential, [1, 2], { reference: `8:${i}` })
      const before = await ports.ledger.balance(account.id)
      const [joined, refused] = await Promise.all([join(ports, whole), ports.smppParts.refuse(ids, OUTCOME.optedOut)])
      assert.deepEqual(joined === 'joined', !refused)
      assert.equal((await submit(ports)).length, refused ? 0 : 1)
      assert.equal(Number(before) - Number(await ports.ledger.balance(account.id)), refused ? 0 : 10)
    }
  },

  'whole texts that nobody joined are found, and incomplete ones expire, each once': async (ports) => {
    const { account, credential } = await aCustomer(ports)
    const { ids } = await addAll(ports, credential, [1, 2])
    const { id } = await add(ports, aPart(credential, [1, 2], { reference: '8:18' }))
    assert.deepEqual(await ports.smppParts.unjoined(600, 10), [])
    assert.equal(await ports.smppParts.expire(600, 10), 0)
    const [found, ...others] = await ports.smppParts.unjoined(-1, 10)
    assert.deepEqual([found?.map((part) => part.id), others], [ids, []])
    const expired = await Promise.all(Array.from({ length: 8 }, () => ports.smppParts.expire(-1, 10)))
    assert.equal(
      expired.reduce((sum, count) => sum + count, 0),
      1,
    )
    assert.deepEqual(await codesOf(ports, account.id, [id, ...ids]), [OUTCOME.expired, 'waiting', 'waiting'])
    assert.equal(await join(ports, found ?? []), 'joined')
    assert.deepEqual(await ports.smppParts.unjoined(-1, 10), [])
  },

  'after a missed deadline no part is stored': async (ports) => {
    const { account, credential } = await aCustomer(ports)
    const deadline = new AnswerDeadline()
    assert.ok(deadline.miss())
    assert.equal(await ports.smppParts.add(aPart(credential, [1, 2]), many, deadline), 'overloaded')
    assert.equal(await ports.smppParts.waiting(account.id), 0)
    const inTime = new AnswerDeadline()
    assert.ok(typeof (await ports.smppParts.add(aPart(credential, [1, 2]), many, inTime)) === 'object')
    assert.equal(inTime.miss(), false)
  },

  'a deadline that is missed while a part is stored leaves either an id or nothing': async (ports) => {
    const { account, credential } = await aCustomer(ports)
    const deadlines = Array.from({ length: concurrentCallers }, () => new AnswerDeadline())
    const adding = deadlines.map((deadline, i) =>
      ports.smppParts.add(aPart(credential, [i + 1, concurrentCallers + 1]), many, deadline),
    )
    const missed = deadlines.filter((deadline) => deadline.miss()).length
    const results = await Promise.all(adding)
    assert.equal(results.filter((result) => result === 'overloaded').length, missed)
    // A part that was stored too late may be removed after the answer.
    await until(async () => (await ports.smppParts.waiting(account.id)) === concurrentCallers - missed)
  },

  'a part counts if one of its concurrent copies is in time': async (ports) => {
    const { account, credential } = await aCustomer(ports)
    const deadlines = Array.from({ length: concurrentCallers }, () => new AnswerDeadline())
    const adding = deadlines.map((deadline) => ports.smppParts.add(aPart(credential, [1, 2]), many, deadline))
    for (const deadline of deadlines.slice(1)) assert.ok(deadline.miss())
    const [first, ...others] = await Promise.all(adding)
    assert.ok(typeof first === 'object')
    assert.ok(others.every((one) => one === 'overloaded'))
    const { id, whole } = await add(ports, aPart(credential, [2, 2]))
    assert.deepEqual(
      whole?.map((part) => part.id),
      [first.id, id],
    )
    assert.equal(await ports.smppParts.waiting(account.id), 2)
  },

  'a part is found alone while it waits and after it ended, and not after its text was joined': async (ports) => {
    const { account, credential } = await aCustomer(ports)
    const options = { smpp: { credential: credential.id, remote: '192.0.2.7', receipts: 1 } }
    const { id } = await add(ports, aPart(credential, [1, 2], { options }))
    const { stored, ...waits } = (await ports.smppParts.findLone(id)) ?? assert.fail('the part is not found')
    assert.ok(stored > longAgo)
    const bind = { credential: credential.id, systemId: credential.systemId, remote: '192.0.2.7' }
    const facts = { id, account: account.id, number: aNumber(), part: 1, total: 2, bind, incidents: [] }
    assert.deepEqual(waits, { ...facts, ended: undefined })
    await ports.smppParts.expire(-1, 10)
    await ports.smppDeliveries.drop(-1, 10)
    const ended = await ports.smppParts.findLone(id)
    assert.deepEqual(
      [ended?.ended?.code, ended?.bind, ended?.incidents.map((incident) => incident.name)],
      [OUTCOME.expired, bind, [INCIDENT.deliveryDropped]],
    )
    const { ids, whole } = await addAll(ports, credential, [1, 2])
    await join(ports, whole)
    assert.equal(await ports.smppParts.findLone(at(ids, 0)), undefined)
  },
}

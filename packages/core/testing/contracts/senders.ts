import * as fc from 'fast-check'
import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import { accountId, type Account, type AccountId } from '@gateway/core/accounts'
import { credits } from '@gateway/core/credits'
import type { CarrierId } from '@gateway/core/dispatch'
import {
  preferredBy,
  type AllowedSender,
  type MessageId,
  type Msisdn,
  type SenderAddress,
} from '@gateway/core/messages'
import {
  aBody,
  aCarrierId,
  anAccount,
  anAccountId,
  anAddress,
  anOrder,
  aNumber,
  aSender,
  numbers,
} from '../builders.ts'
import { accepted, at, concurrentCallers, checkGenerated, dispatchDue, type Contract } from './shared.ts'
import { chooseSender } from './specification/messages.ts'

const [short, long] = [anAddress('40404'), anAddress('12025550199')]

const someAccounts = async (ports: StoredPorts, count: number): Promise<readonly Account[]> => {
  const accounts: Account[] = []
  for (let i = 0; i < count; i++) accounts.push(await anAccount(ports))
  return accounts
}

export const sendersContract: Contract<StoredPorts> = {
  'a code belongs to one account at a time and is listed with it': async (ports) => {
    const [one, two] = [await anAccount(ports), await anAccount(ports)]
    assert.deepEqual(await ports.senders.assigned(), [])
    assert.equal(await ports.senders.assign(short, one.id), 'assigned')
    assert.equal(await ports.senders.assign(short, one.id), 'already')
    assert.equal(await ports.senders.assign(short, two.id), 'taken')
    assert.equal(await ports.senders.assign(long, one.id), 'assigned')
    assert.deepEqual((await ports.accounts.find(one.id))?.account.shortCodes, [short, long])
    assert.deepEqual((await ports.accounts.byLogin(one.login))?.account.shortCodes, [short, long])
    assert.deepEqual((await ports.accounts.find(two.id))?.account.shortCodes, [])
    assert.deepEqual(await ports.senders.assigned(), [
      { code: long, account: one.id },
      { code: short, account: one.id },
    ])
    assert.equal(await ports.senders.release(short), true)
    assert.equal(await ports.senders.release(short), false)
    assert.equal(await ports.senders.assign(short, two.id), 'assigned')
    assert.deepEqual((await ports.accounts.find(one.id))?.account.shortCodes, [long])
    assert.deepEqual((await ports.accounts.find(two.id))?.account.shortCodes, [short])
  },

  'a code cannot be assigned to an unknown account': async (ports) => {
    assert.equal(await ports.senders.assign(short, accountId(99_999) ?? assert.fail()), 'no-such-account')
    assert.deepEqual(await ports.senders.assigned(), [])
    assert.equal(await ports.senders.release(long), false)
  },

  'settings of an allowed sender are replaced and removed, separately for each account': async (ports) => {
    const [a, b] = [await anAccount(ports), await anAccount(ports)]
    const says: AllowedSender = {
      ...{ account: a.id, sender: aSender('Acme'), destinations: ['27', '2782'], defaultFor: ['', '27'] },
      ...{ carriers: [aCarrierId('one')], otherwise: 'refuse' },
    }
    const others: readonly AllowedSender[] = ['24x7', 'acme'].map((sender) => ({
      ...{
        account: b.id,
        sender: aSender(sender),
        destinations: [],
        defaultFor: [],
        carriers: [],
        otherwise: 'replace',
      },
    }))
    assert.equal(await ports.senders.allow({ ...says, account: anAccountId(99_999) }), 'no-such-account')
    assert.equal(await ports.senders.allow({ ...says, otherwise: 'replace' }), 'added')
    assert.equal(await ports.senders.allow(says), 'changed')
    for (const one of others.toReversed()) assert.equal(await ports.senders.allow(one), 'added')
    assert.deepEqual(await ports.senders.allowed(), [says, ...others])
    assert.deepEqual(await ports.senders.allowedTo(a.id), [says])
    assert.deepEqual(await ports.senders.allowedTo(b.id), others)
    assert.equal(await ports.senders.disallow(b.id, says.sender), false)
    assert.equal(await ports.senders.disallow(a.id, says.sender), true)
    assert.equal(await ports.senders.disallow(a.id, says.sender), false)
    assert.deepEqual(await ports.senders.allowedTo(a.id), [])
    assert.deepEqual((await ports.accounts.find(b.id))?.account.shortCodes, [])
  },

  "over a carrier without registration of the sender, the carrier's own is used or the message is refused, as the account says":
    async (ports) => {
      const { id: by } = await anAccount(ports)
      const [registered, other] = [aCarrierId('registered'), aCarrierId('other')]
      const senders = ['Replaced', 'Refused', 'Anywhere'].map((text) => aSender(text))
      for (const [i, sender] of senders.entries()) {
        const carriers = i < 2 ? [registered] : []
        const otherwise = i === 1 ? 'refuse' : 'replace'
        await ports.senders.allow({ account: by, sender, destinations: [], defaultFor: [], carriers, otherwise })
      }
      const claimed = async (carrier: CarrierId) => {
        const to = [...senders, undefined].map((from, i) => ({ number: at(numbers(4), i), cost: credits(10), from }))
        const order = anOrder(by, { to: [] })
        await accepted(ports, { ...order, senders: pool.slice(0, 1), texts: [{ body: aBody(), due: undefined, to }] })
        const claimRequest = { carrier, lane: 'single', messagesMax: 10, markedMax: 0, leaseSeconds: 600 } as const
        const batch = await ports.claimedBatches.claim(await ports.claimedBatches.register(600), claimRequest)
        assert.ok(typeof batch === 'object')
        return batch.messages.map(({ from, onlyOver }) => [from, onlyOver])
      }
      const [replaced, refused, anywhere] = senders
      assert.deepEqual(
        await claimed(registered),
        [...senders, pool[0]].map((one) => [one, undefined]),
      )
      assert.deepEqual(await claimed(other), [
        ...[
          [undefined, undefined],
          [refused, [registered]],
          [anywhere, undefined],
          [pool[0], undefined],
        ],
      ])
      assert.ok(replaced)
    },

  'of concurrent assignments of one code one succeeds': async (ports) => {
    const accounts = await someAccounts(ports, 8)
    const results = await Promise.all(accounts.map(({ id }) => ports.senders.assign(short, id)))
    assert.deepEqual(results.toSorted(), ['assigned', ...Array.from({ length: 7 }, () => 'taken')])
    assert.equal((await ports.senders.assigned()).length, 1)
  },
}

const pool = ['12025550111', '12025550112', '12025550113'].map((text) => anAddress(text))

const someAccountIds = async (ports: StoredPorts, count: number): Promise<readonly AccountId[]> => {
  const accounts: AccountId[] = []
  for (let i = 0; i < count; i++) accounts.push((await anAccount(ports)).id)
  return accounts
}

const send = async (ports: StoredPorts, by: AccountId, to: readonly Msisdn[], senders = pool) =>
  (await accepted(ports, anOrder(by, { to, senders, costs: [0] }))).ids

/** Dispatches all due messages and returns a function from message ids to their sender addresses. */
async function addresses(ports: StoredPorts): Promise<(ids: readonly MessageId[]) => readonly SenderAddress[]> {
  const byId = new Map<MessageId, SenderAddress | undefined>()
  for (const lane of ['single', 'bulk'] as const) {
    for (const { id, from } of await dispatchDue(ports, lane, () => ({ outcome: 'refused' }))) byId.set(id, from)
  }
  return (ids) => ids.map((id) => byId.get(id) ?? assert.fail(`message ${id} leaves from nowhere`))
}

const asks = fc.array(
  fc.record({ account: fc.nat({ max: 4 }), number: fc.nat({ max: 2 }), pool: fc.subarray(pool, { minLength: 1 }) }),
  { minLength: 5, maxLength: 25 },
)

/** Contract of the choice of the sender address (ruling 1.18). */
export const choosing: Contract<StoredPorts> = {
  'an account keeps its address for a number, whatever else is sent, also if a number occurs twice': async (ports) => {
    const { id } = await anAccount(ports)
    const to = numbers(20)
    const sent = [await send(ports, id, to), await send(ports, id, numbers(40)), await send(ports, id, to.toReversed())]
    const twice = await send(ports, id, [aNumber('27839000000'), aNumber('27839000000'), aNumber('27839000000')])
    const from = await addresses(ports)
    const [first = [], more = [], reversed = []] = sent.map(from)
    assert.ok(first.every((address) => pool.includes(address)))
    assert.deepEqual(more.slice(0, 20), first)
    assert.deepEqual(reversed, first.toReversed())
    assert.equal(new Set(from(twice)).size, 1)
  },

  'accounts that send concurrently to one number have different addresses while there are enough': async (ports) => {
    const accounts = await someAccountIds(ports, 3)
    const recipients = numbers(50)
    const sent = await Promise.all(
      Array.from({ length: concurrentCallers }, (_, i) =>
        send(ports, at(accounts, i % 3), i % 2 === 0 ? recipients : recipients.toReversed()),
      ),
    )
    const from = await addresses(ports)
    const inOrder = sent.map((ids, i) => (i % 2 === 0 ? from(ids) : from(ids).toReversed()))
    for (const [n] of recipients.entries()) {
      assert.equal(new Set(inOrder.map((all) => all[n])).size, 3)
      for (let i = 0; i < 3; i++) {
        assert.equal(new Set(inOrder.filter((_, caller) => caller % 3 === i).map((all) => all[n])).size, 1)
      }
    }
  },

  'in generated sends with changing pools each message has the address of the rule': async (ports) => {
    let round = 0
    await checkGenerated(asks, 8, async (generated) => {
      const accounts = await someAccountIds(ports, 5)
      const to = numbers(3, String(10 + round++))
      const chosen = new Map(to.map((number) => [number, new Map<AccountId, SenderAddress>()]))
      const expected: (SenderAddress | undefined)[] = []
      const sent: MessageId[] = []
      for (const ask of generated) {
        const [account, number] = [at(accounts, ask.account), at(to, ask.number)]
        sent.push(...(await send(ports, account, [number], ask.pool)))
        const byAccount = chosen.get(number) ?? assert.fail()
        const ofOthers = [...byAccount].flatMap(([other, address]) => (other === account ? [] : [address]))
        const address = chooseSender(preferredBy(account, ask.pool), byAccount.get(account), new Set(ofOthers))
        // If there is only one address, none is remembered.
        if (address !== undefined && ask.pool.length > 1) byAccount.set(account, address)
        expected.push(address)
      }
      assert.deepEqual((await addresses(ports))(sent), expected)
    })
  },
}

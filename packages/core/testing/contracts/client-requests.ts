import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import { readIdempotencyKey, type ClientRequest } from '@gateway/core/client-requests'
import { credits } from '@gateway/core/credits'
import { writeAnswer, type Acceptance, type Order } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import { anAccount, anAnswerDraft, anOrder, numbers } from '../builders.ts'
import { assertLedger, concurrentCallers, dispatchDue, farAhead, type Contract } from './shared.ts'

const now = instant(Date.UTC(2026, 9, 18, 8))
const another = 'another-request'

function request(account: AccountId, key = 'key', asked = 'this'): ClientRequest {
  const read = readIdempotencyKey(key)
  return typeof read === 'string' && read !== 'unusable' ? { account, key: read, asked } : assert.fail(`no key: ${key}`)
}

const textOf = (order: Order, results: Acceptance['results']) => writeAnswer(anAnswerDraft(order), results)

const sentOnce = ({ messages }: StoredPorts, asked: ClientRequest, order: Order) =>
  messages.acceptOnce(order, asked, anAnswerDraft(order))

const movedOnce = ({ ledger }: StoredPorts, asked: ClientRequest, [from, to, amount]: [AccountId, AccountId, number]) =>
  ledger.transferOnce({ from, to, amount: credits(amount) }, now, asked)

const waiting = async (ports: StoredPorts) =>
  (await dispatchDue(ports, 'single', () => ({ outcome: 'unknown' }))).map(({ id }) => id)

const inParallel = <T>(call: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: concurrentCallers }, (_, i) => call(i)))

/**
 * Contract of the port `ClientRequests`, with what `Messages` and `Ledger` promise of requests with a key (ruling
 * 1.24). That an answer stops to count, each adapter tests by itself.
 */
export const clientRequestsContract: Contract<StoredPorts> = {
  'a stored answer is found under its account and exact key, and only by the same request': async (ports) => {
    const { clientRequests } = ports
    const [a, b] = [(await anAccount(ports)).id, (await anAccount(ports)).id]
    const keys = ['key', 'KEY', 'kéy', 'ключ 😀', `it's "{a,b}" \\ 100%`, 'k'.repeat(255), '😀'.repeat(255)]
    for (const [i, key] of keys.entries()) {
      assert.equal(await clientRequests.find(request(a, key)), undefined)
      const answer = { text: `["${i}"]`, balance: i % 2 === 0 ? credits(i) : undefined }
      assert.deepEqual(await clientRequests.keep(request(a, key, `asked ${i}`), answer), answer)
    }
    for (const [i, key] of keys.entries()) {
      const found = await clientRequests.find(request(a, key, `asked ${i}`))
      assert.ok(typeof found === 'object')
      assert.deepEqual([found.text, found.balance], [`["${i}"]`, i % 2 === 0 ? i : undefined])
      assert.equal(await clientRequests.find(request(a, key, `asked ${i + 1}`)), another)
      assert.equal(await clientRequests.find(request(b, key, `asked ${i}`)), undefined)
    }
  },

  'the first answer counts: 64 concurrent calls receive the same one': async (ports) => {
    const { clientRequests } = ports
    const { id } = await anAccount(ports)
    const told = await inParallel((i) => clientRequests.keep(request(id), { text: `${i}`, balance: credits(i) }))
    const kept = await clientRequests.find(request(id))
    assert.ok(typeof kept === 'object')
    for (const one of told) assert.deepEqual(one, kept)
    assert.equal(await clientRequests.keep(request(id, 'key', 'other'), { text: 'other' }), another)
    assert.deepEqual(await clientRequests.keep(request(id), { text: 'later' }), kept)
  },

  'a repeated order has the stored answer with the balance of that time, whatever has changed':
    async (ports) => {
      const { id } = await anAccount(ports, { credits: 50 })
      const order = anOrder(id, { to: numbers(2), costs: [10, 20] }, { to: numbers(1), due: farAhead })
      const first = await sentOnce(ports, request(id), order)
      assert.ok(typeof first === 'object')
      await ports.ledger.topUp(id, credits(7), 'meanwhile', now)
      assert.equal(await sentOnce(ports, request(id), order), 'repeated')
      await ports.ledger.topUp(id, credits(-17), 'meanwhile', now)
      await ports.accounts.setLocked(id, true)
      const again = await sentOnce(ports, request(id), order)
      assert.ok(again === 'repeated' || again === 'account-locked')
      const answer = { text: textOf(order, first.results), balance: credits(10) }
      assert.deepEqual(await ports.clientRequests.keep(request(id), { text: 'refused now' }), answer)
      assert.equal((await waiting(ports)).length, 2)
      await assertLedger(ports, 0)
    },

  'a different request under a used key does nothing, whether send or transfer': async (ports) => {
    const [a, b] = [(await anAccount(ports, { credits: 100 })).id, (await anAccount(ports, { credits: 0 })).id]
    const order = anOrder(a, { to: numbers(1) })
    assert.equal(typeof (await sentOnce(ports, request(a, 'send'), order)), 'object')
    assert.equal(await movedOnce(ports, request(a, 'transfer'), [a, b, 20]), 'of concurrent transfers of the last credits exactly as many succeed as fit')
    assert.equal(await sentOnce(ports, request(a, 'transfer', 'other'), order), 'repeated')
    assert.equal(await sentOnce(ports, request(a, 'send', 'other'), order), 'repeated')
    assert.equal(await movedOnce(ports, request(a, 'send', 'other'), [a, b, 20]), 'repeated')
    assert.equal(await movedOnce(ports, request(a, 'transfer', 'other'), [a, b, 1]), 'repeated')
    for (const key of ['send', 'transfer'])
      assert.equal(await ports.clientRequests.find(request(a, key, 'other')), another)
    assert.deepEqual(await Promise.all([a, b].map((id) => ports.ledger.balance(id))), [70, 20])
    assert.equal((await waiting(ports)).length, 1)
    await assertLedger(ports, 90)
  },

  'an order without an accepted recipient stores no answer, and its key stays free': async (ports) => {
    const { id } = await anAccount(ports, { credits: 9 })
    const order = anOrder(id, { to: numbers(2) })
    const refused = await sentOnce(ports, request(id), order)
    assert.deepEqual(refused, { results: [['insufficient-credits', 'insufficient-credits']], balance: 9 })
    await ports.accounts.setLocked(id, true)
    assert.equal(await sentOnce(ports, request(id), order), 'account-locked')
    assert.equal(await ports.clientRequests.find(request(id)), undefined)
    await ports.accounts.setLocked(id, false)
    await ports.ledger.topUp(id, credits(6), 'meanwhile', now)
    const partly = await sentOnce(ports, request(id), order)
    assert.ok(typeof partly === 'object' && partly.balance === 5)
    const kept = await ports.clientRequests.find(request(id))
    assert.ok(typeof kept === 'object')
    assert.deepEqual([kept.text, kept.balance], [textOf(order, partly.results), 5])
    await assertLedger(ports, 5)
  },

  'of 64 concurrent orders with one key one is accepted, and its answer is stored': async (ports) => {
    const { id } = await anAccount(ports, { credits: 1000 })
    const order = anOrder(id, { to: numbers(3) })
    const results = await inParallel(() => sentOnce(ports, request(id), order))
    const [first = assert.fail(), ...others] = results.filter((result) => result !== 'repeated')
    assert.deepEqual(others, [])
    assert.ok(typeof first === 'object')
    const kept = await ports.clientRequests.find(request(id))
    assert.deepEqual(kept, { text: textOf(order, first.results), balance: 970 })
    assert.equal((await waiting(ports)).length, 3)
    await assertLedger(ports, 970)
  },

  'of 64 concurrent orders with eight keys and scarce credits each key is used once, with a correct answer':
    async (ports) => {
      const { id } = await anAccount(ports, { credits: 190 })
      const calls = await inParallel(async (i) => {
        const order = anOrder(id, { to: numbers(1 + (i % 3)), costs: [7, 5, 3] })
        const asked = request(id, `key ${i % 8}`)
        const result = i % 4 === 3 ? await ports.messages.accept(order) : await sentOnce(ports, asked, order)
        return { asked: i % 4 === 3 ? undefined : asked, order, result }
      })
      let accepted = 0
      const answers = new Map<string, unknown>()
      for (const { asked, order, result } of calls) {
        if (typeof result !== 'object') continue
        const ids = result.results.flat().filter((one) => one !== 'insufficient-credits')
        accepted += ids.length
        if (asked === undefined || ids.length === 0) continue
        assert.ok(!answers.has(asked.key), `${asked.key} was done twice`)
        answers.set(asked.key, { text: textOf(order, result.results), balance: result.balance })
        assert.deepEqual(await ports.clientRequests.find(asked), answers.get(asked.key))
      }
      for (const { asked, result } of calls)
        if (result === 'repeated') assert.ok(answers.has(asked?.key ?? ''), 'repeated without an answer')
      assert.equal((await waiting(ports)).length, accepted)
      await assertLedger(ports)
    },

  'the stored balances of 64 orders with different keys are those that were returned': async (
    ports,
  ) => {
    const { id } = await anAccount(ports, { credits: concurrentCallers * 11 })
    const balances = await inParallel(async (i) => {
      const asked = request(id, `key ${i}`)
      const due = i % 3 === 0 ? { due: farAhead } : {}
      const result = await sentOnce(ports, asked, anOrder(id, { to: numbers(1), costs: [11], ...due }))
      const kept = await ports.clientRequests.find(asked)
      assert.ok(typeof result === 'object' && typeof kept === 'object')
      assert.equal(kept.balance, result.balance)
      return result.balance
    })
    const expected = Array.from({ length: concurrentCallers }, (_, i) => i * 11)
    assert.deepEqual(
      balances.toSorted((a, b) => a - b),
      expected,
    )
    await assertLedger(ports, 0)
  },

  'a repeated transfer has the stored result, also a refusal, but a failure is not stored': async (ports) => {
    const [a, b] = [(await anAccount(ports, { credits: 100 })).id, (await anAccount(ports, { credits: 0 })).id]
    const textUnder = async (key: string) => {
      const kept = await ports.clientRequests.find(request(a, key))
      return typeof kept === 'object' ? [kept.text, kept.balance] : kept
    }
    assert.equal(await movedOnce(ports, request(a, 'of concurrent transfers of the last credits exactly as many succeed as fit'), [a, b, 60]), 'of concurrent transfers of the last credits exactly as many succeed as fit')
    assert.equal(await movedOnce(ports, request(a, 'of concurrent transfers of the last credits exactly as many succeed as fit'), [a, b, 60]), 'repeated')
    assert.deepEqual(await textUnder('of concurrent transfers of the last credits exactly as many succeed as fit'), ['of concurrent transfers of the last credits exactly as many succeed as fit', undefined])
    assert.equal(await movedOnce(ports, request(a, 'few'), [a, b, 60]), 'insufficient-credits')
    await ports.ledger.topUp(a, credits(60), 'meanwhile', now)
    assert.equal(await movedOnce(ports, request(a, 'few'), [a, b, 60]), 'repeated')
    assert.deepEqual(await textUnder('few'), ['insufficient-credits', undefined])
    await ports.accounts.setLocked(b, true)
    assert.equal(await movedOnce(ports, request(a, 'locked'), [a, b, 1]), 'to-account-locked')
    assert.deepEqual(await textUnder('locked'), ['to-account-locked', undefined])
    await ports.accounts.setLocked(b, false)
    const rich = (await anAccount(ports, { credits: Number.MAX_SAFE_INTEGER })).id
    assert.equal(await movedOnce(ports, request(a, 'a transfer that would exceed the maximum balance is refused'), [a, rich, 1]), 'a transfer that would exceed the maximum balance is refused')
    assert.equal(await ports.clientRequests.find(request(a, 'a transfer that would exceed the maximum balance is refused')), undefined)
    assert.equal(await movedOnce(ports, request(a, 'a transfer that would exceed the maximum balance is refused'), [a, b, 1]), 'of concurrent transfers of the last credits exactly as many succeed as fit')
    assert.deepEqual(await Promise.all([a, b].map((id) => ports.ledger.balance(id))), [99, 61])
  },

  '64 transfers with one key, requested by a third account, move credits once': async (ports) => {
    const asker = (await anAccount(ports, { credits: 0 })).id
    const [a, b] = [(await anAccount(ports, { credits: 100 })).id, (await anAccount(ports, { credits: 100 })).id]
    const results = await inParallel((i) =>
      i % 2 === 0 ? movedOnce(ports, request(asker), [a, b, 10]) : movedOnce(ports, request(b), [b, a, 3]),
    )
    assert.equal(results.filter((result) => result === 'of concurrent transfers of the last credits exactly as many succeed as fit').length, 2)
    assert.equal(results.filter((result) => result === 'repeated').length, concurrentCallers - 2)
    assert.deepEqual(await Promise.all([a, b].map((id) => ports.ledger.balance(id))), [93, 107])
    await assertLedger(ports, 200)
  },

  'of concurrent sends, transfers and answers without effect under one key one counts': async (ports) => {
    const [a, b] = [(await anAccount(ports, { credits: 1000 })).id, (await anAccount(ports, { credits: 0 })).id]
    const results = await inParallel(async (i) => {
      if (i % 3 === 0) return sentOnce(ports, request(a, 'key', 'send'), anOrder(a, { to: numbers(1) }))
      if (i % 3 === 1) return movedOnce(ports, request(a, 'key', 'transfer'), [a, b, 500])
      const answer = { text: `refused ${i}` }
      const kept = await ports.clientRequests.keep(request(a, 'key', 'refused'), answer)
      return typeof kept === 'object' && kept.text === answer.text ? kept : 'repeated'
    })
    assert.equal(results.filter((result) => result !== 'repeated').length, 1)
    assert.ok([990, 500, 1000].includes((await ports.ledger.balance(a)) ?? NaN))
    await assertLedger(ports)
  },
}

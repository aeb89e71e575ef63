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

function request(account: AccountId, key = 'key', content = 'this'): ClientRequest {
  const read = readIdempotencyKey(key)
  return typeof read === 'string' && read !== 'unusable'
    ? { account, key: read, canonical: content }
    : assert.fail(`not a valid idempotency key: ${key}`)
}

const textOf = (order: Order, results: Acceptance['results']) => writeAnswer(anAnswerDraft(order), results)

const sentOnce = ({ messages }: StoredPorts, keyed: ClientRequest, order: Order) =>
  messages.acceptOnce(order, keyed, anAnswerDraft(order))

const movedOnce = ({ ledger }: StoredPorts, keyed: ClientRequest, [from, to, amount]: [AccountId, AccountId, number]) =>
  ledger.transferOnce({ from, to, amount: credits(amount) }, now, keyed)

const waiting = async (ports: StoredPorts) =>
  (await dispatchDue(ports, 'single', () => ({ outcome: 'unknown' }))).map(({ id }) => id)

const inParallel = <T>(call: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: concurrentCallers }, (_, i) => call(i)))

/**
 * Contract of the port `ClientRequests`, and of `Messages` and `Ledger` for requests with a key (ruling 1.24). The
 * expiry of stored answers is not covered here; each adapter has its own tests of it.
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
    const answers = await inParallel((i) => clientRequests.keep(request(id), { text: `${i}`, balance: credits(i) }))
    const storedAnswer = await clientRequests.find(request(id))
    assert.ok(typeof storedAnswer === 'object')
    for (const one of answers) assert.deepEqual(one, storedAnswer)
    assert.equal(await clientRequests.keep(request(id, 'key', 'other'), { text: 'other' }), another)
    assert.deepEqual(await clientRequests.keep(request(id), { text: 'later' }), storedAnswer)
  },

  'a repeated order has the stored answer with the balance of that time, whatever has changed': async (ports) => {
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
    assert.equal(await movedOnce(ports, request(a, 'transfer'), [a, b, 20]), 'done')
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
    const storedAnswer = await ports.clientRequests.find(request(id))
    assert.ok(typeof storedAnswer === 'object')
    assert.deepEqual([storedAnswer.text, storedAnswer.balance], [textOf(order, partly.results), 5])
    await assertLedger(ports, 5)
  },

  'of 64 concurrent orders with one key one is accepted, and its answer is stored': async (ports) => {
    const { id } = await anAccount(ports, { credits: 1000 })
    const order = anOrder(id, { to: numbers(3) })
    const results = await inParallel(() => sentOnce(ports, request(id), order))
    const [first = assert.fail(), ...others] = results.filter((result) => result !== 'repeated')
    assert.deepEqual(others, [])
    assert.ok(typeof first === 'object')
    const storedAnswer = await ports.clientRequests.find(request(id))
    assert.deepEqual(storedAnswer, { text: textOf(order, first.results), balance: 970 })
    assert.equal((await waiting(ports)).length, 3)
    await assertLedger(ports, 970)
  },

  'of 64 concurrent orders with eight keys and scarce credits each key is used once, with a correct answer': async (
    ports,
  ) => {
    const { id } = await anAccount(ports, { credits: 190 })
    const calls = await inParallel(async (i) => {
      const order = anOrder(id, { to: numbers(1 + (i % 3)), costs: [7, 5, 3] })
      const keyed = request(id, `key ${i % 8}`)
      const result = i % 4 === 3 ? await ports.messages.accept(order) : await sentOnce(ports, keyed, order)
      return { keyed: i % 4 === 3 ? undefined : keyed, order, result }
    })
    let accepted = 0
    const answers = new Map<string, unknown>()
    for (const { keyed, order, result } of calls) {
      if (typeof result !== 'object') continue
      const ids = result.results.flat().filter((one) => one !== 'insufficient-credits')
      accepted += ids.length
      if (keyed === undefined || ids.length === 0) continue
      assert.ok(!answers.has(keyed.key), `${keyed.key} was done twice`)
      answers.set(keyed.key, { text: textOf(order, result.results), balance: result.balance })
      assert.deepEqual(await ports.clientRequests.find(keyed), answers.get(keyed.key))
    }
    for (const { keyed, result } of calls)
      if (result === 'repeated') assert.ok(answers.has(keyed?.key ?? ''), 'repeated without an answer')
    assert.equal((await waiting(ports)).length, accepted)
    await assertLedger(ports)
  },

  'the stored balances of 64 orders with different keys are those that were returned': async (ports) => {
    const { id } = await anAccount(ports, { credits: concurrentCallers * 11 })
    const balances = await inParallel(async (i) => {
      const keyed = request(id, `key ${i}`)
      const due = i % 3 === 0 ? { due: farAhead } : {}
      const result = await sentOnce(ports, keyed, anOrder(id, { to: numbers(1), costs: [11], ...due }))
      const storedAnswer = await ports.clientRequests.find(keyed)
      assert.ok(typeof result === 'object' && typeof storedAnswer === 'object')
      assert.equal(storedAnswer.balance, result.balance)
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
      const storedAnswer = await ports.clientRequests.find(request(a, key))
      return typeof storedAnswer === 'object' ? [storedAnswer.text, storedAnswer.balance] : storedAnswer
    }
    assert.equal(await movedOnce(ports, request(a, 'done'), [a, b, 60]), 'done')
    assert.equal(await movedOnce(ports, request(a, 'done'), [a, b, 60]), 'repeated')
    assert.deepEqual(await textUnder('done'), ['done', undefined])
    assert.equal(await movedOnce(ports, request(a, 'few'), [a, b, 60]), 'insufficient-credits')
    await ports.ledger.topUp(a, credits(60), 'meanwhile', now)
    assert.equal(await movedOnce(ports, request(a, 'few'), [a, b, 60]), 'repeated')
    assert.deepEqual(await textUnder('few'), ['insufficient-credits', undefined])
    await ports.accounts.setLocked(b, true)
    assert.equal(await movedOnce(ports, request(a, 'locked'), [a, b, 1]), 'to-account-locked')
    assert.deepEqual(await textUnder('locked'), ['to-account-locked', undefined])
    await ports.accounts.setLocked(b, false)
    const rich = (await anAccount(ports, { credits: Number.MAX_SAFE_INTEGER })).id
    assert.equal(await movedOnce(ports, request(a, 'failed'), [a, rich, 1]), 'failed')
    assert.equal(await ports.clientRequests.find(request(a, 'failed')), undefined)
    assert.equal(await movedOnce(ports, request(a, 'failed'), [a, b, 1]), 'done')
    assert.deepEqual(await Promise.all([a, b].map((id) => ports.ledger.balance(id))), [99, 61])
  },

  '64 transfers with one key, requested by a third account, move credits once': async (ports) => {
    const asker = (await anAccount(ports, { credits: 0 })).id
    const [a, b] = [(await anAccount(ports, { credits: 100 })).id, (await anAccount(ports, { credits: 100 })).id]
    const results = await inParallel((i) =>
      i % 2 === 0 ? movedOnce(ports, request(asker), [a, b, 10]) : movedOnce(ports, request(b), [b, a, 3]),
    )
    assert.equal(results.filter((result) => result === 'done').length, 2)
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
      const storedAnswer = await ports.clientRequests.keep(request(a, 'key', 'refused'), answer)
      return typeof storedAnswer === 'object' && storedAnswer.text === answer.text ? storedAnswer : 'repeated'
    })
    assert.equal(results.filter((result) => result !== 'repeated').length, 1)
    assert.ok([990, 500, 1000].includes((await ports.ledger.balance(a)) ?? NaN))
    await assertLedger(ports)
  },
}

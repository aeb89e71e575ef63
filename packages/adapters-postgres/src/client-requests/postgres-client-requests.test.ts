import { Client } from 'pg'
import { createGateway, type StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import { readIdempotencyKey, type ClientRequest, type IdempotencyKey } from '@gateway/core/client-requests'
import { credits } from '@gateway/core/credits'
import { writeAnswer, type Acceptance, type TextToSend } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import { anAccount, anAnswerDraft, anOrder, memoryPorts, numbers, until } from '@gateway/core/testing'
import { cuttableDatabase, type CuttableDatabase } from '../../testing/cuttable-database.ts'
import type { Cut } from '../../testing/cutting-proxy.ts'
import { postgresPorts } from '../postgres-ports.ts'

const now = instant(Date.UTC(2026, 9, 18, 8))

let database: CuttableDatabase
let account: AccountId
let sub: AccountId
beforeEach(async () => {
  database = await cuttableDatabase()
  const { ports } = database.direct
  account = (await anAccount(ports, { credits: 1000 })).id
  sub = (await anAccount(ports, { parent: account, credits: 0 })).id
})
afterEach(() => database.drop())

function keyOf(text: string): IdempotencyKey {
  const key = readIdempotencyKey(text)
  if (key === undefined || key === 'unusable') throw new Error(`no key: ${text}`)
  return key
}

const requestOf = (key = 'k', content = 'this'): ClientRequest => ({ account, key: keyOf(key), canonical: content })
/** Returns the text of the answer to an order that had these results, with one recipient for each result. */
const textOf = (results: Acceptance['results']) =>
  writeAnswer(anAnswerDraft(anOrder(account, { to: numbers(results.flat().length) })), results)
const sent = ({ messages }: StoredPorts, key = 'k', count = 1, content = 'this') => {
  const order = anOrder(account, { to: numbers(count) })
  return messages.acceptOnce(order, requestOf(key, content), anAnswerDraft(order))
}
const moved = ({ ledger }: StoredPorts, amount: number, key = 'k') =>
  ledger.transferOnce({ from: account, to: sub, amount: credits(amount) }, now, requestOf(key))
const storedAnswer = (key = 'k') => database.direct.ports.clientRequests.find(requestOf(key))

async function storedIds(): Promise<readonly number[]> {
  const { rows } = await database.client.query<{ id: string }>(
    'select id from send, generate_series(first_id, first_id + n - 1) id order by id',
  )
  return rows.map(({ id }) => Number(id))
}

async function assertBalance(expected: number): Promise<void> {
  const { ledger } = database.direct.ports
  expect(await ledger.balance(account)).toBe(expected)
  expect((await ledger.check()).differences).toEqual([])
}

/** Makes the stored answers older by this number of seconds. */
const age = (seconds: number) =>
  database.client.query('update client_request set at = at - make_interval(secs => $1)', [seconds])

describe.each<Cut>(['before-it-arrives', 'after-it-arrived', 'before-its-answer'])(
  'where the connection breaks %s',
  (where) => {
    test('orders with keys are accepted once each, and their stored answers have their ids and balances', async () => {
      const { cuttable, proxy } = database
      await sent(cuttable.ports, 'first')
      const cut = proxy.cut(where, 'accept-keyed')
      const keys = Array.from({ length: 20 }, (_, i) => `key ${i}`)
      const results = await Promise.all(keys.map((key) => sent(cuttable.ports, key, 2)))
      await cut
      const answers = await Promise.all(keys.map((key) => storedAnswer(key)))
      const ids: number[] = []
      for (const [i, answer] of answers.entries()) {
        if (typeof answer !== 'object') throw new Error(`no answer is stored: ${answer}`)
        const result = results[i]
        if (typeof result === 'object')
          expect(answer).toEqual({ text: textOf(result.results), balance: result.balance })
        else expect(result).toBe('repeated')
        const [[, [first, count]]] = JSON.parse(answer.text) as [[null, [first: number, count: number]]]
        ids.push(...Array.from({ length: count }, (_, at) => first + at))
      }
      expect((await storedIds()).slice(1)).toEqual(ids.toSorted((a, b) => a - b))
      const balances = answers.map((answer) => (typeof answer === 'object' ? answer.balance : NaN))
      expect(balances.toSorted((a, b) => Number(b) - Number(a))).toEqual(keys.map((_, i) => 970 - 20 * i))
      await assertBalance(590)
    })

    test('an order that is decided under the lock of its account is accepted once too', async () => {
      const { cuttable, direct, proxy } = database
      await sent(cuttable.ports, 'first')
      await direct.ports.ledger.topUp(account, credits(-965), 'nearly all', now)
      const cut = proxy.cut(where, 'lock-account')
      const result = await sent(cuttable.ports, 'k', 4)
      await cut
      const answer = await storedAnswer()
      if (typeof answer !== 'object') throw new Error(`no answer is stored: ${answer}`)
      if (typeof result === 'object') expect(answer.text).toBe(textOf(result.results))
      expect((JSON.parse(answer.text) as unknown[][])[0]?.at(-1)).toEqual(['insufficient-credits', 2])
      expect(answer.balance).toBe(5)
      expect(await storedIds()).toHaveLength(3)
      await assertBalance(5)
    })

    test('a transfer happens once, and its stored answer says whether it was done or refused', async () => {
      const { cuttable, proxy } = database
      for (const [key, amount, result] of [
        ['done', 300, 'done'],
        ['few', 2000, 'insufficient-credits'],
      ] as const) {
        const cut = proxy.cut(where, 'transfer')
        expect([result, 'repeated']).toContain(await moved(cuttable.ports, amount, key))
        await cut
        expect(await storedAnswer(key)).toMatchObject({ text: result })
        expect(await moved(cuttable.ports, amount, key)).toBe('repeated')
      }
      await assertBalance(700)
    })

    test('an answer without any change is stored once', async () => {
      const { cuttable, proxy } = database
      await cuttable.ports.clientRequests.find(requestOf())
      const cut = proxy.cut(where, 'keep-first-answer')
      const answer = { text: 'refused', balance: credits(7) }
      expect(await cuttable.ports.clientRequests.keep(requestOf(), answer)).toEqual(answer)
      await cut
      expect(await storedAnswer()).toEqual(answer)
    })
  },
)

test('an order under the lock of its account whose commit is not answered is not decided twice', async () => {
  const { cuttable, direct, proxy } = database
  await sent(cuttable.ports, 'first')
  await direct.ports.ledger.topUp(account, credits(-965), 'nearly all', now)
  const cut = proxy.cut('before-its-answer', 'commit')
  expect(await sent(cuttable.ports, 'k', 4)).toBe('repeated')
  await cut
  expect(await storedAnswer()).toMatchObject({ balance: 5 })
  await assertBalance(5)
})

describe('the same request to two processes', () => {
  const gateways = () => {
    const memory = memoryPorts()
    const other = postgresPorts({ connectionString: database.connectionString })
    const [a, b] = [database.direct, other].map(({ ports }) => createGateway({ ...memory, ...ports }))
    if (a === undefined || b === undefined) throw new Error('no gateways')
    const calls = Array.from({ length: 64 }, (_, i) => (i % 2 === 0 ? a : b))
    return { calls, close: () => other.close() }
  }

  test('64 concurrent sends and 64 transfers happen once, and all callers get the answer or arrive too late', async () => {
    const { calls, close } = gateways()
    const found = await database.direct.ports.accounts.find(account)
    if (found === undefined) throw new Error('no account')
    const texts: readonly TextToSend[] = [{ text: 'hello', recipients: ['27820000001', 'x', '27820000002'] }]
    const sends = await Promise.all(
      calls.map((gateway) => gateway.commands.sendMessages(found.account, texts, keyOf('send'))),
    )
    for (const one of sends) expect(one).toEqual(sends[0])
    expect(sends[0]).toMatchObject([[{ cost: 10 }, { refused: 'invalid-number' }, { balance: 980 }]])
    const transfer = { from: account, to: sub, quantity: 5 }
    const transfers = await Promise.all(
      calls.map((gateway) => gateway.commands.transferCredits(found.account, transfer, keyOf('transfer'))),
    )
    expect(new Set(transfers)).toEqual(new Set(['done']))
    const others = await Promise.all(
      calls.map((gateway, i) =>
        gateway.commands.sendMessages(
          found.account,
          [{ text: `text ${i % 4}`, recipients: ['27820000001'] }],
          keyOf('other'),
        ),
      ),
    )
    expect(others.filter((one) => one === 'another-request')).toHaveLength(48)
    expect(await storedIds()).toHaveLength(3)
    await assertBalance(920)
    await close()
  })

  test('of many concurrent requests with keys each is done once, whatever other accounts do in the same statements', async () => {
    const { direct } = database
    const other = postgresPorts({ connectionString: database.connectionString })
    const accounts = [account]
    for (let i = 0; i < 7; i++) accounts.push((await anAccount(direct.ports, { credits: 1000 })).id)
    const calls = accounts.flatMap((id, a) =>
      Array.from({ length: 40 }, (_, i) => ({
        ports: i % 2 === 0 ? direct.ports : other.ports,
        id,
        key: `key ${(i >> 1) % 20}`,
        a,
      })),
    )
    const results = await Promise.all(
      calls.map(({ ports, id, key }) => {
        const order = anOrder(id, { to: numbers(1) })
        const request = { account: id, key: keyOf(key), canonical: 'this' }
        return ports.messages.acceptOnce(order, request, anAnswerDraft(order))
      }),
    )
    expect(results.filter((result) => typeof result === 'object')).toHaveLength(8 * 20)
    expect(results.filter((result) => result === 'repeated')).toHaveLength(8 * 20)
    for (const id of accounts) expect(await direct.ports.ledger.balance(id)).toBe(800)
    await assertBalance(800)
    await other.close()
  })
})

test('a request that waits for another process fails in bounded time, does nothing, and frees its key', async () => {
  const holder = new Client({ connectionString: database.connectionString })
  await holder.connect()
  await holder.query('begin')
  await holder.query('select from account where id = $1 for update', [account])
  const settings = { lockSeconds: 0.2 }
  const impatient = postgresPorts({ connectionString: database.connectionString, settings })
  const began = performance.now()
  await expect(sent(impatient.ports)).rejects.toThrow('lock timeout')
  await expect(impatient.ports.clientRequests.keep(requestOf(), { text: 'x' })).rejects.toThrow('lock timeout')
  await expect(moved(impatient.ports, 1)).rejects.toThrow('is unknown: the database does not answer')
  expect(performance.now() - began).toBeLessThan(5000)
  await holder.query('commit')
  await holder.end()
  expect(await storedAnswer()).toBeUndefined()
  expect(await sent(impatient.ports)).toMatchObject({ balance: 990 })
  await impatient.close()
})

describe('an answer', () => {
  const hours48 = 48 * 3600

  test.each([
    ['of a send', (ports: StoredPorts, key: string) => sent(ports, key)],
    ['of a send that cannot pay for all', (ports: StoredPorts, key: string) => sent(ports, key, 45)],
    ['of a transfer', (ports: StoredPorts, key: string) => moved(ports, 10, key)],
  ])('%s counts for 48 hours and no longer', async (_what, act) => {
    const { ports } = database.direct
    for (const key of ['a', 'b']) expect(await act(ports, key)).not.toBe('repeated')
    await age(hours48 - 30)
    for (const key of ['a', 'b']) expect(await act(ports, key)).toBe('repeated')
    expect(await storedAnswer('a')).toBeDefined()
    await age(30)
    expect(await storedAnswer('a')).toBeUndefined()
    const again = await act(ports, 'a')
    expect(again).not.toBe('repeated')
    if (typeof again === 'object')
      expect(await storedAnswer('a')).toEqual({ text: textOf(again.results), balance: again.balance })
    else expect(await storedAnswer('a')).toMatchObject({ text: again })
    const answer = { text: 'instead' }
    expect(await ports.clientRequests.keep(requestOf('b'), answer)).toEqual(answer)
    expect(await storedAnswer('b')).toMatchObject(answer)
    expect((await ports.ledger.check()).differences).toEqual([])
  })

  test('that has expired is dropped, some thousand in a step; others stay', async () => {
    const { ports } = database.direct
    await ports.clientRequests.keep(requestOf('young'), { text: 'young' })
    await ports.clientRequests.keep(requestOf('old enough'), { text: 'old' })
    await database.client.query(`update client_request set at = now() - interval '48 hours' where answer = 'old'`)
    await database.client.query(
      `insert into client_request (account_id, key, digest, at, answer)
       select 1, md5('old ' || i)::uuid, md5('')::uuid, now() - interval '49 hours', '' from generate_series(1, 10000) i`,
    )
    const steps: string[] = []
    await until(async () => {
      steps.push((await ports.history.drop(90, 730)).progress)
      return steps.at(-1) === 'all'
    })
    expect(steps).toEqual(['more', 'more', 'all'])
    const { rows } = await database.client.query('select answer from client_request')
    expect(rows).toEqual([{ answer: 'young' }])
  })
})

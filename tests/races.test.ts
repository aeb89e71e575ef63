import { setTimeout as delay } from 'node:timers/promises'
import { testChance } from '@gateway/core/testing'
import { openAccount } from './support/accounts.ts'
import { interfaces, type Interface } from './support/attempts.ts'
import { carriers } from './support/carriers.ts'
import { inTurn } from './support/in-turn.ts'
import {
  asp,
  minuteOf,
  patiently,
  rest,
  restBalance,
  restStatus,
  untilCodes,
  xml,
  type Client,
} from './support/clients.ts'
import { startDatabase, type Database } from './support/database.ts'
import { numbersEnding } from './support/numbers.ts'
import { operate } from './support/operate.ts'
import {
  dataFolder,
  killLeftovers,
  startApp,
  type DataFolder,
  type Environment,
  type Started,
} from './support/process.ts'

const messages = 1000
const perSend = 10
const workers = 64

let data: DataFolder
let database: Database
let environment: Environment & { readonly DATA_DIR: string }
let apps: readonly Started[]
let urls: Readonly<Record<Interface, string>>

beforeAll(async () => {
  data = await dataFolder()
  database = await startDatabase(`${data.path}/db`)
  environment = {
    DATABASE_URL: database.connectionString,
    DATA_DIR: data.path,
  }
  apps = await Promise.all((['rest', 'asp', 'xml'] as const).map((app) => startApp(app, environment)))
  const [restUrl = '', aspUrl = '', xmlUrl = ''] = apps.map(({ url }) => url)
  urls = { rest: restUrl, asp: aspUrl, xml: xmlUrl }
}, 120_000)

afterAll(async () => {
  const codes = await Promise.all(apps.map((app) => app.stop()))
  killLeftovers()
  await database.remove()
  await data.remove()
  expect(codes).toEqual(apps.map(() => 0))
}, 120_000)

/**
 * Deletes messages over each interface. Returns the ids that were answered as deleted, an id several times if several
 * answers say so.
 */
const deleting: Readonly<Record<Interface, (key: string, ids: readonly number[]) => Promise<number[]>>> = {
  rest: async (key, ids) => {
    const { deletedMessageStatuses } = await rest<{ deletedMessageStatuses: { deleteError: string }[] }>(
      { url: urls.rest, key },
      '/sms/scheduled/delete',
      ids,
    )
    return ids.filter((_, i) => deletedMessageStatuses[i]?.deleteError === '')
  },
  asp: async (key, ids) => {
    const text = await asp({ url: urls.asp, key }, 'deletescheduled.asp', { messageid: ids.join(';') })
    return Array.from(text.matchAll(/(\d+)=DELETED&/g), ([, id]) => Number(id))
  },
  xml: async (key, ids) => {
    const items = ids.map((id) => `<MessageID><ID>${id}</ID><CLI>${id}</CLI></MessageID>`).join('')
    const content = `<MessageIDs>${items}</MessageIDs>`
    const text = await xml({ url: urls.xml, key }, 'xmldeletescheduled.asp', 'Svc_DeleteScheduled', content)
    return Array.from(text.matchAll(/<CLI>(\d+)<\/CLI><Status>DELETED</g), ([, id]) => Number(id))
  },
}

async function schedule(client: Client, numbers: readonly string[], scheduledTime: string): Promise<number[]> {
  const recipients = numbers.map((mobileNumber) => ({ mobileNumber }))
  const body = { message: 'x', recipients, scheduledTime }
  const answer = await rest<{ recipients: { apiMessageId: number }[] }>(client, '/sms/outgoing/send', body)
  return answer.recipients.map(({ apiMessageId }) => apiMessageId)
}

test.each(inTurn(carriers))(
  'over %s: 64 deletes at a time race with two dispatchers over 1000 messages that fall due: each is deleted and refunded once, or sent once',
  async (title, startCarrier) => {
    const carrier = await startCarrier(environment, 10)
    const dispatching = { ...environment, CARRIERS: carrier.limitedTo(500) }
    const dispatchers = await Promise.all([startApp('dispatcher', dispatching), startApp('dispatcher', dispatching)])
    const { key } = await openAccount(environment, `racer-${title.replaceAll(' ', '-')}`, messages)
    const client = { url: urls.rest, key }
    const numbers = numbersEnding(messages)
    const tomorrow = minuteOf(Date.now() + 24 * 3_600_000)
    const sends = Array.from({ length: messages / perSend }, (_, i) => numbers.slice(i * perSend, (i + 1) * perSend))
    const ids = (await Promise.all(sends.map((to) => patiently(() => schedule(client, to, tomorrow))))).flat()
    expect(new Set(ids).size).toBe(messages)
    expect(await restBalance(client)).toBe(0)

    // A scheduled time is a full minute; the times are brought forward so that the messages become due within this
    // race.
    await database.rows(`
    update later set due_at = soon.time, at = soon.time
    from (select lo, now() + (0.5 + lo * 7919::bigint % 3000 / 1000.0) * interval '1 second' as time from later) soon
    where later.lo = soon.lo`)
    const chance = testChance()
    const deletedIds: number[] = []
    const end = performance.now() + 4500
    const work = async (worker: number): Promise<void> => {
      const by = interfaces[worker % interfaces.length] ?? 'rest'
      while (performance.now() < end) {
        const some = ids.filter(() => chance.happens(0.004))
        if (some.length > 0)
          deletedIds.push(...(await patiently(() => deleting[by](key, [...some, ...some.slice(0, 2)]))))
        await delay(200)
      }
    }
    await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)))

    const deleted = new Set(deletedIds)
    expect(deleted.size).toBe(deletedIds.length)
    expect(deleted.size).toBeGreaterThan(50)
    expect(deleted.size).toBeLessThan(messages - 50)
    const codes = async () => (await restStatus(client, ids)).map(({ statusCode }) => statusCode)
    await untilCodes(client, ids, (code) => code === 0 || code === 102, 60_000)
    expect(ids.filter((_, i) => deleted.has(ids[i] ?? 0))).toHaveLength(deleted.size)
    const final = await codes()
    expect(ids.filter((id, i) => deleted.has(id) !== (final[i] === 102))).toEqual([])
    const record = (await carrier.submitted()).map(({ number }) => number)
    expect(record.toSorted()).toEqual(numbers.filter((_, i) => !deleted.has(ids[i] ?? 0)).toSorted())
    expect(await restBalance(client)).toBe(deleted.size)
    expect((await operate(['credits', 'verify'], environment)).code).toBe(0)
    expect(await Promise.all(dispatchers.map((app) => app.stop()))).toEqual([0, 0])
    await carrier.stop()
  },
  120_000,
)

test('64 clients transfer in both directions among five accounts, over REST and query string: no error, no deadlock, and the sum stays', async () => {
  const main = await openAccount(environment, 'main', 200)
  const subs = await Promise.all(
    [1, 2, 3, 4].map((i) => openAccount(environment, `sub-${i}`, 200, '--parent', String(main.id))),
  )
  const family = [main, ...subs]
  const one = async (worker: number, round: number): Promise<string> => {
    const from = family[(worker + round) % 5]?.id ?? 0
    const to = family[(worker + round + 1 + ((worker * 7 + round) % 4)) % 5]?.id ?? 0
    const quantity = 10 + ((worker * 13 + round * 29) % 90)
    if (worker % 2 === 0) {
      const query = { fromAccountId: String(from), toAccountId: String(to), transferQuantity: String(quantity) }
      return asp({ url: urls.asp, key: main.key }, 'creditstransfer.asp', query)
    }
    const { transferSuccessful, transferError = '' } = await rest<{
      transferSuccessful: boolean
      transferError?: string
    }>({ url: urls.rest, key: main.key }, '/credits/transfer', {
      sendingAccountNumber: from,
      receivingAccountNumber: to,
      transferQuantity: quantity,
    })
    return `Transfer=${transferSuccessful ? 'Success' : transferError}`
  }
  const begun = performance.now()
  const words = await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      const own: string[] = []
      for (let round = 0; round < 6; round++) own.push(await patiently(() => one(worker, round)))
      return own
    }),
  )
  const all = words.flat()
  const seconds = (performance.now() - begun) / 1000
  console.log(`${all.length} transfers in ${seconds.toFixed(1)} s`)
  expect(all).toHaveLength(workers * 6)
  expect(new Set(all)).toEqual(new Set(['Transfer=Success', 'Transfer=insufficientCredits']))
  const balances = await Promise.all(family.map(({ key }) => restBalance({ url: urls.rest, key })))
  expect(balances.reduce((sum, balance) => sum + balance)).toBe(1000)
  expect(Math.min(...balances)).toBeGreaterThanOrEqual(0)
  const entries = await database.rows<{ n: number }>(
    `select count(*)::int n from ledger where operation is not null and account_id = any ($1::int[])`,
    [family.map(({ id }) => id)],
  )
  expect(entries[0]?.n).toBe(2 * all.filter((word) => word === 'Transfer=Success').length)
  expect((await operate(['credits', 'verify'], environment)).code).toBe(0)
}, 120_000)

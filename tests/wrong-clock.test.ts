import { join } from 'node:path'
import { until } from '@gateway/core/testing'
import { measure, openAccount, type NewAccount } from './support/accounts.ts'
import { minuteOf, rest, restBalance, restSend, restStatus, type Client } from './support/clients.ts'
import { startDatabase, type Database } from './support/database.ts'
import { numbersEnding } from './support/numbers.ts'
import {
  databaseFolder,
  gatewayJson,
  killLeftovers,
  startApp,
  type DataFolder,
  type Environment,
  type Started,
} from './support/process.ts'
import { canSetClocks, wrongClock } from './support/wrong-clock.ts'

// The database has the right clock in these tests, and some processes have a wrong one (P-18).

const hour = 3_600_000
const day = 24 * hour
/** Maximum milliseconds that a slow machine may take between two readings of the same clock in a test. */
const patience = 10 * 60_000
const offset = 'gateway_clock_offset_seconds'

if (!canSetClocks)
  console.warn('NOTICE: libfaketime (Debian package faketime) is not installed: wrong clocks are not tested.')
const withClocks = canSetClocks ? describe : describe.skip

const near = (text: string | null): number => Math.abs(Date.parse(text ?? '') - Date.now())

/** Parses a time in the form CCYYMMDDHHmmss plus milliseconds, at GMT+2. */
const stampOf = (text: string): number =>
  Date.parse(text.replace(/^(....)(..)(..)(..)(..)(..)(...)$/, '$1-$2-$3T$4:$5:$6.$7+02:00'))

const timesOfLog = ({ output }: Pick<Started, 'output'>): string[] =>
  [...output().matchAll(/"time":"([^"]+)"/g)].map(([, time = '']) => time)

withClocks('processes whose clocks are wrong, beside a database whose clock is right', () => {
  let data: DataFolder
  let database: Database
  let environment: Environment
  let right: Started
  let account: NewAccount
  const clockAt = (name: string, difference: string) => wrongClock(join(data.path, name), difference)

  beforeAll(async () => {
    data = await databaseFolder()
    database = await startDatabase(join(data.path, 'db'))
    environment = { DATABASE_URL: database.connectionString, DATA_DIR: data.path, CARRIERS: 'simulator:?delayMs=10' }
    right = await startApp('rest', environment)
    account = await openAccount(environment, 'clocks', 10_000)
  }, 180_000)

  afterAll(async () => {
    killLeftovers()
    await database.remove()
    await data.remove()
  })

  const client = (at: Started = right): Client => ({ url: at.url, key: account.key })
  const send = async (count: number, at = right) => (await restSend(client(at), numbersEnding(count))).map(Number)
  const schedule = async (inMilliseconds: number, at = right): Promise<number> => {
    const scheduledTime = minuteOf(Date.now() + inMilliseconds)
    const body = { message: 'Later', scheduledTime, recipients: [{ mobileNumber: '27820000001' }] }
    const answer = await rest<{ recipients: { apiMessageId: number }[] }>(client(at), '/sms/outgoing/send', body)
    return answer.recipients[0]?.apiMessageId ?? NaN
  }
  const codes = async (ids: readonly number[], at = right) =>
    new Set((await restStatus(client(at), ids)).map(({ statusCode }) => statusCode))
  const delivered = async (ids: readonly number[]) => {
    await until(async () => {
      const found = await codes(ids)
      // Stops waiting when a message ended in any other way.
      return (
        [...found].some((code) => code > 100 && code < 300 && code !== 105 && code !== 106) ||
        (found.size === 1 && found.has(0))
      )
    }, 120_000)
    expect([...(await codes(ids))]).toEqual([0])
  }

  test('a dispatcher that is 55 hours ahead, and one whose clock then goes wrong, end no message and send none too early', async () => {
    const waiting = await send(200)
    const later = await schedule(10 * hour)
    const before = await restBalance(client())
    const clock = await clockAt('dispatcher', '+55h')
    const dispatcher = await startApp('dispatcher', { ...environment, ...clock.environment })
    await delivered(waiting)
    expect(Math.abs((await measure(dispatcher, offset)) - 55 * 3600)).toBeLessThan(60)
    expect(dispatcher.output()).toMatch(
      /"level":"warn"[^\n]*clock of this machine is 1[0-9]{5} s ahead of the database's/,
    )

    await clock.set('+0')
    await until(async () => Math.abs(await measure(dispatcher, offset)) < 60, 60_000)
    await clock.set('+110h')
    await delivered(await send(200))
    await until(async () => (await measure(dispatcher, offset)) > 100 * 3600, 60_000)
    await clock.set('-55h')
    await delivered(await send(50))

    expect(await listed(later)).toBe(true)
    expect(await restBalance(client())).toBe(before - 250)
    // A process uses the time of its machine until it has compared its clock with that of the database. The first line
    // is therefore skipped.
    const compared = timesOfLog(dispatcher).slice(1)
    expect(compared.length).toBeGreaterThan(1)
    for (const time of compared) expect(near(time)).toBeLessThan(patience)
    expect(await dispatcher.stop()).toBe(0)
  }, 300_000)

  const listed = async (id: number, at = right): Promise<boolean> =>
    JSON.stringify(await rest(client(at), '/sms/scheduled')).includes(`"apiMessageId":${id}`)

  test.each(['+55h', '-55h'])(
    'an interface whose clock is wrong by %s decides and tells as one whose clock is right',
    async (difference) => {
      const isAhead = difference.startsWith('+')
      const clock = await clockAt(`rest${difference}`, difference)
      const wrong = await startApp('rest', { ...environment, ...clock.environment })
      const dispatcher = await startApp('dispatcher', environment)
      const response = await fetch(`${wrong.url}/api/rest/v1/credits/balance`, {
        headers: { Authorization: account.key },
      })
      const { timeStamp } = (await response.json()) as { timeStamp: string }
      expect(Math.abs(stampOf(timeStamp) - Date.now())).toBeLessThan(patience)
      expect(near(response.headers.get('date'))).toBeLessThan(patience)

      // A message for a future time waits, and a message for a past time is sent at once.
      const later = await schedule(10 * hour, wrong)
      const past = await schedule(-10 * hour, wrong)
      await delivered([past])
      expect([await listed(later, wrong), await codes([later], wrong)]).toEqual([true, await codes([later])])
      const before = await restBalance(client(wrong))
      await rest(client(wrong), '/sms/scheduled/delete', [later])
      expect(await restBalance(client(wrong))).toBe(before + 1)

      // The limit is 90 days. The old message is beyond the limit by one of the two clocks only, and the young message
      // by neither.
      const [old, young] = [await send(1), await send(1)]
      await delivered([...old, ...young])
      await age(old, isAhead ? 89 : 91)
      await age(young, 1)
      expect(await codes([...old, ...young], wrong)).toEqual(await codes([...old, ...young]))

      // The expiry of API keys does not depend on the clock of a process either.
      const issue = (...expires: string[]) =>
        gatewayJson<{ id: number; key: string; expires: string }>(['key', 'issue', String(account.id), ...expires], {
          ...environment,
          ...clock.environment,
        })
      const soon = await issue('--expires', '1d')
      expect(Math.abs(Date.parse(soon.expires) - Date.now() - day)).toBeLessThan(patience)
      expect(await restBalance({ url: wrong.url, key: soon.key })).toBe(before + 1 - 2)
      const over = await issue()
      await database.rows(`update api_key set expires_at = now() - interval '1 hour' where id = ${over.id}`)
      await expect(restBalance({ url: wrong.url, key: over.key })).rejects.toThrow('401')

      expect([await wrong.stop(), await dispatcher.stop()]).toEqual([0, 0])
    },
    300_000,
  )

  const age = async ([id = NaN]: readonly number[], days: number): Promise<void> => {
    await database.rows(`update send set created_at = now() - interval '${days} days' where first_id = ${id}`)
  }
})

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@gateway/core/testing'
import { openAccount } from './support/accounts.ts'
import { carriers } from './support/carriers.ts'
import { inTurn } from './support/in-turn.ts'
import { restSend } from './support/clients.ts'
import { startDatabase } from './support/database.ts'
import { numbersEnding } from './support/numbers.ts'
import { dataFolder, killLeftovers, startApp } from './support/process.ts'

afterAll(killLeftovers)

const outageMilliseconds = 1500
const messages = 400

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test.each(inTurn(carriers))(
  'over %s: a short outage of the database while a carrier of 50 messages a second is busy: dispatching continues by itself',
  async (_title, startCarrier) => {
    const data = await dataFolder()
    const folder = join(data.path, 'db')
    const database = await startDatabase(folder)
    const carrier = await startCarrier({ DATA_DIR: data.path }, 400)
    const environment = {
      DATABASE_URL: database.connectionString,
      DATA_DIR: data.path,
      CARRIERS: carrier.limitedTo(50),
    }
    const submitted = async () => (await carrier.submitted()).map(({ number }) => number)
    try {
      const [rest, dispatcher] = await Promise.all([startApp('rest', environment), startApp('dispatcher', environment)])
      const client = { url: rest.url, key: (await openAccount(environment, 'slow', messages * 2)).key }
      await restSend(client, numbersEnding(messages))
      await until(async () => (await submitted()).length >= 150, 60_000)

      const postmaster = Number((await readFile(join(folder, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])
      process.kill(postmaster, 'SIGINT') // SIGINT makes PostgreSQL shut down without waiting for clients.
      await until(() => !isRunning(postmaster), 30_000)
      await delay(outageMilliseconds)
      await database.start()

      await until(async () => (await submitted()).length >= messages, 60_000)
      await until(
        () =>
          restSend(client, numbersEnding(1, '01', messages)).then(
            () => true,
            () => false,
          ),
        30_000,
      )
      await until(async () => (await submitted()).length > messages, 30_000)
      const numbers = await submitted()
      expect(new Set(numbers).size).toBe(numbers.length)
      expect(dispatcher.output()).not.toContain('makes no progress')
      const ready = await fetch(`${dispatcher.url}/health/ready`)
      expect([ready.status, await ready.json()]).toMatchObject([
        200,
        { ready: true, checks: { database: 'ok', progress: 'ok' } },
      ])
      expect(await dispatcher.stop()).toBe(0)
      expect(await rest.stop()).toBe(0)
    } finally {
      killLeftovers()
      await database.remove()
      await data.remove()
    }
  },
  240_000,
)

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runsEveryForm, until } from '@gateway/core/testing'
import { openAccount } from './support/accounts.ts'
import { carriers } from './support/carriers.ts'
import { inTurn } from './support/in-turn.ts'
import { restBalance, restSend, restStatus, type Client } from './support/clients.ts'
import { numbersEnding } from './support/numbers.ts'
import { operate } from './support/operate.ts'
import { databaseFolder, killLeftovers, startApp, type Environment } from './support/process.ts'

afterEach(killLeftovers)

const messages = runsEveryForm ? 20_000 : 12_000
const perSend = 1000
const kills = 2
const inDoubtMax = 200

/** Kills node and its PostgreSQL so that no process can complete anything, as in a power failure. */
async function killEverything(
  gateway: { pid: number; stop(signal: NodeJS.Signals): Promise<unknown> },
  folder: string,
) {
  const postmaster = Number((await readFile(join(folder, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])
  const stopped = gateway.stop('SIGKILL')
  process.kill(postmaster, 'SIGKILL')
  await stopped
  // The server processes of PostgreSQL end when their parent is gone.
}

test.each(inTurn(carriers))(
  'over %s: kill -9 of everything in a run of thousands of messages: nothing is lost, sent twice or charged twice',
  async (_title, startCarrier) => {
    const data = await databaseFolder()
    const place = { DATA_DIR: data.path, LEASE_SECONDS: '5' }
    const carrier = await startCarrier(place, 50)
    const environment: Environment = { ...place, CARRIERS: carrier.url }
    try {
      let gateway = await startApp('all-in-one', environment)
      const { key } = await openAccount(environment, 'bulk', messages * 2)
      let client: Client = { url: gateway.url, key }

      const known = new Map<number, string>()
      let sent = 0
      const sendOne = async (): Promise<void> => {
        const numbers = numbersEnding(perSend, '01', sent * perSend)
        sent++
        const results = await restSend(client, numbers)
        for (const [i, id] of results.entries()) if (typeof id === 'number') known.set(id, numbers[i] ?? '')
      }
      const sends = messages / perSend
      for (let kill = 1; kill <= kills; kill++) {
        const before = (await carrier.submitted()).length
        const until1 = Math.floor((sends * kill) / (kills + 1))
        // The last request is unanswered at the time of the kill, so its client does not know whether it was accepted.
        while (sent < until1) await sendOne()
        await until(async () => (await carrier.submitted()).length > before + 1500, 60_000)
        const lost = sendOne().catch(() => undefined)
        await killEverything(gateway, data.path)
        await lost
        gateway = await startApp('all-in-one', environment)
        client = { url: gateway.url, key }
      }
      while (sent < sends) await sendOne()

      const settled = async () =>
        (await restStatus(client, [...known.keys()])).every(({ statusCode }) => statusCode === 0 || statusCode === 106)
      await until(settled, 120_000)
      const statuses = await restStatus(client, [...known.keys()])
      const unknown = statuses.filter(({ statusCode }) => statusCode === 106)
      expect(unknown.length).toBeLessThanOrEqual(inDoubtMax * kills)

      const record = (await carrier.submitted()).map(({ number }) => number)
      const submitted = new Set(record)
      expect(submitted.size).toBe(record.length)
      const numberOf = (id: number): string => known.get(id) ?? ''
      expect(statuses.filter((s) => s.statusCode === 0 && !submitted.has(numberOf(s.apiMessageId)))).toEqual([])

      // Exactly the accepted messages are charged, including those whose client never received the answer.
      const charged = messages * 2 - (await restBalance(client))
      expect(charged).toBeGreaterThanOrEqual(known.size)
      expect((charged - known.size) % perSend).toBe(0)
      await until(
        async () =>
          new Set((await carrier.submitted()).map(({ number }) => number)).size >= charged - inDoubtMax * kills,
      )
      expect((await operate(['credits', 'verify'], environment)).code).toBe(0)
      expect(await gateway.stop()).toBe(0)
    } finally {
      killLeftovers()
      await data.remove()
    }
  },
  300_000,
)

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '@gateway/adapters-node'
import { postgresPorts } from '@gateway/adapters-postgres'
import type { Submission } from '@gateway/core/dispatch'
import { defaultConfirmation, type InboundMessage } from '@gateway/core/inbox'
import { instant } from '@gateway/core/time'
import { anAccount, anOrder, numbers, scriptedCarrier, until, type ScriptedCarrier } from '@gateway/core/testing'
import { startDispatching, type Dispatching } from './dispatch.ts'
import { removeCluster, startEmbeddedPostgres } from '@gateway/embedded-postgres'
import { createLog } from '@gateway/server'

/**
 * Creates a carrier whose phones answer every message at once, including confirmations. The carrier offers
 * unacknowledged answers again, and some acknowledged ones as well.
 */
function autoResponders(name: string, text: string) {
  const submitted: Submission[] = []
  let owed = 0
  const carrier: ScriptedCarrier = scriptedCarrier({
    id: name,
    outcomeOf: (message) => {
      submitted.push(message)
      const arrival: InboundMessage = {
        carrier: carrier.id,
        from: `+${message.to}`,
        to: message.from,
        text,
        sent: undefined,
        reference: `${name}-${message.id}`,
        offer: undefined,
        part: undefined,
      }
      void offer(arrival)
      if (message.id % 3 === 0) void offer(arrival)
      return 0
    },
  })
  async function offer(arrival: InboundMessage): Promise<void> {
    owed++
    while (!(await isTaken(carrier.arrive([arrival])))) await pause(20)
    owed--
  }
  return { carrier, submitted, owed: () => owed }
}

test('phones that answer everything with "stop", two dispatchers, one database: one confirmation for each phone', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gw-'))
  await chmod(dataDir, 0o755)
  const database = await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } })
  const postgres = [1, 2].map(() => postgresPorts({ connectionString: database.connectionString }))
  const phones = ['one', 'two'].map((name) => autoResponders(name, 'stop'))
  const log = createLog({ level: 'silent', name: 'test' })
  let dispatching: Dispatching[] = []
  try {
    const [ports] = postgres.map((one) => one.ports)
    if (ports === undefined) throw new Error('there is no database')
    await postgres[0]?.migrate()
    const account = await anAccount(ports, { credits: 1000 })
    const to = numbers(60)
    dispatching = postgres.flatMap((one, at) => {
      const { carrier } = phones[at] ?? {}
      const dispatcherPorts = { ...one.ports, clock: systemClock() }
      return carrier === undefined ? [] : [startDispatching({ ports: dispatcherPorts, carriers: [carrier], log })]
    })
    for (let at = 0; at < to.length; at += 5) {
      await ports.messages.accept(anOrder(account.id, { to: to.slice(at, at + 5) }))
    }
    const submitted = () => phones.flatMap((one) => one.submitted)
    const replies = () => ports.inbox.list(account.id, 'all', instant(0), { offset: 0, limit: 1000 })
    await until(async () => submitted().length >= 120 && (await replies()).total >= 120, 60_000)
    await until(() => phones.every(({ owed }) => owed() === 0), 60_000)
    await Promise.all(dispatching.splice(0).map((one) => one.stop(20)))

    const written = (text: string) => submitted().flatMap((one) => (one.body.text === text ? [one.to] : []))
    expect(written('hello').toSorted()).toEqual(to)
    expect(written(defaultConfirmation).toSorted()).toEqual(to)
    expect(submitted()).toHaveLength(120)
    const { total, items } = await replies()
    expect(total).toBe(120)
    const ids = new Map(submitted().flatMap((one) => (one.body.text === 'hello' ? [[one.id, one.to] as const] : [])))
    // Both answers of each phone must be assigned to a message of the test, not to the confirmation.
    expect(items.every(({ answers, from }) => answers !== undefined && ids.get(answers) === from)).toBe(true)
    const optOuts: string[] = []
    for await (const some of ports.suppressions.optOuts(account.id)) optOuts.push(...some.map(({ number }) => number))
    expect(optOuts).toEqual(to)
    expect((await ports.accounts.find(account.id))?.balance).toBe(1000 - 60 * 10)
  } finally {
    await Promise.all(dispatching.map((one) => one.stop(5)))
    await Promise.all(postgres.map((one) => one.close()))
    await database.stop()
    await removeCluster(dataDir)
    await rm(dataDir, { recursive: true, force: true })
  }
}, 180_000)

const isTaken = (offer: Promise<void>): Promise<boolean> =>
  offer.then(
    () => true,
    () => false,
  )

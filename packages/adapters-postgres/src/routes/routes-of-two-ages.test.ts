import { setTimeout as delay } from 'node:timers/promises'
import { createProcessing, type StoredPorts } from '@gateway/core'
import { createDispatcher, RouteTurns, type Dispatcher, type Lane } from '@gateway/core/dispatch'
import type { MessageId, Msisdn } from '@gateway/core/messages'
import type { Route } from '@gateway/core/routes'
import {
  aCarrierId,
  anAccount,
  anOrder,
  numbers,
  realClock,
  scriptedCarrier,
  until,
  type ScriptedCarrier,
  type ScriptedCarrierOptions,
} from '@gateway/core/testing'
import { freshDatabase, type FreshDatabase } from '../../testing/fresh-database.ts'
import { patientSettings } from '../../testing/patient-settings.ts'
import type { Changes } from '../changes.ts'
import { postgresClaimedBatches } from '../claimed-batches/postgres-claimed-batches.ts'
import { createContext } from '../context.ts'
import { postgresDeliveryReceipts } from '../delivery-receipts/postgres-delivery-receipts.ts'
import { postgresHistory } from '../history/postgres-history.ts'
import { postgresInbox } from '../inbox/postgres-inbox.ts'
import { postgresDailySums } from '../messages/postgres-sent-messages.ts'
import { postgresMessages } from '../messages/postgres-messages.ts'
import { openPools } from '../pools.ts'
import { postgresPorts, type PostgresPorts } from '../postgres-ports.ts'
import { serverAddress } from '../server-address.ts'
import { defaultSettings, silent } from '../settings.ts'
import { postgresPromotions } from '../promotions/postgres-promotions.ts'
import { postgresRoutes } from './postgres-routes.ts'

const route = (name: string, carrier: string, prefixes: readonly string[] = []): Route => ({
  ...{ name, prefixes, accounts: [], senders: [] },
  carriers: [{ carrier: aCarrierId(carrier), priority: 1, weight: 1 }],
})
const before = [route('first', 'a', ['2782']), route('others', 'b')]

const never = new Promise<void>(() => undefined)

/** Process that gets no notifications until the test clears its cache. */
function aDeafProcess(connectionString: string, others: StoredPorts) {
  const forgetting: (() => void)[] = []
  const deaf: Changes = {
    onChange: (forget) => void forgetting.push(forget),
    listen: () => undefined,
    around: (change) => change,
    close: () => Promise.resolve(),
  }
  const settings = { ...defaultSettings, ...patientSettings, cacheSeconds: 3600 }
  const pools = openPools(serverAddress(connectionString), settings, silent)
  const context = createContext(pools, deaf, settings, silent)
  const routes = postgresRoutes(context)
  const clock = realClock()
  const ports = {
    ...{
      routes,
      clock,
      messages: postgresMessages(context, routes),
      claimedBatches: postgresClaimedBatches(context, others.claimedBatches),
    },
    deliveryReceipts: postgresDeliveryReceipts(context),
    promotions: postgresPromotions(context),
    inbox: postgresInbox(context, routes),
    history: postgresHistory(context),
    dailySums: postgresDailySums(context),
  }
  const turns = new RouteTurns(routes, clock)
  const dispatchers: Dispatcher[] = []
  const working: Promise<unknown>[] = []
  /** For each repeated step, the number of times that it was done. */
  const rounds: number[] = []
  let isOver = false

  async function repeat(work: () => Promise<unknown>): Promise<void> {
    const own = rounds.push(0) - 1
    while (!isOver) {
      if ((await work()) !== 'claimed') await delay(10)
      rounds[own] = (rounds[own] ?? 0) + 1
    }
  }

  return {
    ports,
    /** Clears the caches. Resolves when all steps that began before have ended. */
    async learn(): Promise<void> {
      for (const forget of forgetting) forget()
      const since = [...rounds]
      await until(() => rounds.every((round, i) => round > (since[i] ?? 0) + 1))
    },
    carrier(options: ScriptedCarrierOptions): ScriptedCarrier {
      const carrier = scriptedCarrier({ outcomeOf: () => 'accepted', window: 20, ...options })
      const failed = (problem: unknown): never => {
        throw problem
      }
      const dispatcher = createDispatcher(ports, carrier, failed, undefined, undefined, turns)
      dispatchers.push(dispatcher)
      const lanes: readonly Lane[] = ['single', 'bulk']
      working.push(...lanes.map((lane) => repeat(() => dispatcher.work(lane))))
      const retrying = repeat(() => {
        dispatcher.retry()
        return Promise.resolve()
      })
      working.push(retrying)
      return carrier
    },
    /** Runs the work that dispatchers do at intervals. */
    reroutes(): void {
      const processing = createProcessing({ ...others, ...ports })
      working.push(repeat(() => processing.reroute()))
    },
    async end(): Promise<void> {
      isOver = true
      await Promise.all(dispatchers.map((one) => one.drain(never)))
      turns.changed()
      await Promise.all(working)
      await pools.close(1)
    },
  }
}

describe('while one process uses the current routes and another the previous ones', () => {
  const open = {} as { database: FreshDatabase; postgres: PostgresPorts }
  let processes: ReturnType<typeof aDeafProcess>[] = []
  beforeEach(async () => {
    const database = await freshDatabase()
    const { connectionString } = database
    Object.assign(open, { database, postgres: postgresPorts({ connectionString, settings: patientSettings }) })
    processes = []
  })
  afterEach(async () => {
    await Promise.all(processes.map((one) => one.end()))
    await open.postgres.close()
    await open.database.drop()
  })

  /** Starts with an old process that has read the previous routes, and publishes `after`. */
  async function twoAges(after: readonly Route[]) {
    const { routes } = open.postgres.ports
    const { id } = await anAccount(open.postgres.ports, { credits: 100_000 })
    const aProcess = () => aDeafProcess(open.database.connectionString, open.postgres.ports)
    const [old, young] = [aProcess(), aProcess()]
    processes.push(old, young)
    await routes.publish(before)
    await old.ports.routes.list()
    let used = 0
    const send = async (by: typeof old, count: number): Promise<readonly MessageId[]> => {
      const to: readonly Msisdn[] = numbers((used += count)).slice(used - count)
      const accepted = await by.ports.messages.accept(anOrder(id, { to }))
      if (typeof accepted === 'string') throw new Error(accepted)
      return accepted.results.flat().map((one) => one as MessageId)
    }
    const early = await send(old, 60)
    await routes.publish(after)
    young.reroutes()
    return { old, young, send, early }
  }

  const sorted = (ids: readonly MessageId[]): readonly MessageId[] => ids.toSorted((x, y) => x - y)
  const idsOf = (...carriers: readonly ScriptedCarrier[]) =>
    sorted(carriers.flatMap(({ submitted }) => submitted.map(({ id }) => id)))

  const changes: readonly (readonly [string, readonly Route[]])[] = [
    ['has another carrier', [route('first', 'c', ['2782']), route('others', 'b')]],
    ['is withdrawn', [route('others', 'c')]],
  ]

  test.each(changes)(
    'if a route %s, its messages are sent once, over a current carrier if the previous one is down, whichever process accepted them',
    async (_, after) => {
      const { old, young, send, early } = await twoAges(after)
      const [a, c] = [old.carrier({ id: 'a', availability: 'down' }), young.carrier({ id: 'c' })]
      const ids = [...early, ...(await send(old, 5)), ...(await send(young, 5)), ...(await send(old, 30))]
      await until(() => c.submitted.length >= ids.length)
      expect(idsOf(c)).toEqual(sorted(ids))
      expect(a.submitted).toEqual([])
    },
  )

  test.each(changes)(
    'if a route %s and both carriers work, each message is sent over one, and over the current one once all processes know',
    async (_, after) => {
      const { old, young, send, early } = await twoAges(after)
      const [a, c] = [old.carrier({ id: 'a' }), young.carrier({ id: 'c' })]
      const ids = [...early]
      for (let round = 0; round < 10; round++) ids.push(...(await send(old, 30)), ...(await send(young, 5)))
      await until(() => a.submitted.length + c.submitted.length >= ids.length)
      expect(idsOf(a, c)).toEqual(sorted(ids))
      await old.learn()
      const submittedByA = a.submitted.length
      const late = [...(await send(old, 30)), ...(await send(young, 5))]
      await until(() => idsOf(c).filter((id) => late.includes(id)).length === late.length)
      expect(a.submitted).toHaveLength(submittedByA)
    },
  )
})

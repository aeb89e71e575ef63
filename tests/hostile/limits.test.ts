import { until } from '@gateway/core/testing'
import { openAccount } from '../support/accounts.ts'
import { attempt } from '../support/attempts.ts'
import { startDatabase, type Database } from '../support/database.ts'
import { inTurn } from '../support/in-turn.ts'
import {
  dataFolder,
  killLeftovers,
  listening,
  spawnLimited,
  type Environment,
  type Spawned,
} from '../support/process.ts'
import { attacks } from './attacks/index.ts'
import { startAttacker } from './under-attack.ts'

let data: Awaited<ReturnType<typeof dataFolder>>
let database: Database
let environment: Environment
let key: string

beforeAll(async () => {
  data = await dataFolder()
  database = await startDatabase(`${data.path}/db`)
  environment = { DATABASE_URL: database.connectionString, DATA_DIR: data.path, CARRIERS: 'simulator:?delayMs=10' }
  key = (await openAccount(environment, 'victim', 10_000)).key
}, 120_000)
afterAll(async () => {
  killLeftovers()
  await database.remove()
  await data.remove()
})

/** For each limit, attacks that reach it. A run in the short form tries one of the three that reach the memory. */
const cases = [
  ['-n 512', 'all-in-one', '2500 connections that send nothing'],
  ...inTurn([
    ['-d 921600', 'all-in-one', 'large bodies that never end'],
    ['-d 921600', 'xml', 'XML in chunks of one byte'],
    ['-d 921600', 'asp', 'form bodies in chunks of one byte'],
  ] as const),
] as const

test.each(cases)(
  'ulimit %s, %s, under %s: it does not end, nothing is an error, and it serves afterwards',
  async (limit, app, title) => {
    const attack = attacks.find((one) => one.title === title)
    if (attack === undefined) throw new Error(title)
    const gateway: Spawned = spawnLimited(limit, app, environment)
    const url = await listening(gateway)
    const attacker = startAttacker(attack, { port: Number(new URL(url).port), key, full: true })
    const by = app === 'all-in-one' ? 'rest' : app
    let sent = 0
    const send = async () => (sent += (await attempt(by, { url, key }, '27821110001')).id === undefined ? 0 : 1) > 0
    try {
      const refusals = () => Object.values(attacker.answers()).reduce((sum, count) => sum + count, 0)
      // Waits until the limit is reached: until more than 20 connections were refused, or for 4 s, in which some 30 MB
      // of bodies arrive.
      const begun = performance.now()
      await until(async () => {
        if (gateway.hasEnded()) return true
        if (limit.startsWith('-n')) return refusals() > 20
        await send()
        return performance.now() - begun > 4000
      }, 60_000)
    } finally {
      await attacker.stop()
    }
    expect(gateway.hasEnded()).toBe(false)
    sent = 0
    await until(send, 20_000)
    expect(sent).toBe(1)
    expect(gateway.output()).not.toMatch(/"level":"(?:error|fatal)"/)
    expect(await gateway.stop()).toBe(0)
  },
  120_000,
)

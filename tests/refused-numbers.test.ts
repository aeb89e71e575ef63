import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@gateway/core/testing'
import { openAccount } from './support/accounts.ts'
import { restSend, type Client } from './support/clients.ts'
import { inTurn } from './support/in-turn.ts'
import { numbersEnding } from './support/numbers.ts'
import { databaseFolder, killLeftovers, startApp, type DataFolder } from './support/process.ts'
import { startSmscProcess, type RunningSmsc } from './support/smsc.ts'

let data: DataFolder
beforeEach(async () => {
  data = await databaseFolder()
})
afterEach(async () => {
  killLeftovers()
  await data.remove()
})

const perSecond = 5
const seconds = 8

/** Starts carriers by priority, each of which refuses numbers ending in 96 temporarily, and opens two accounts. */
async function refusing(names: readonly string[], timesEach: number) {
  const smscs: RunningSmsc[] = []
  for (const name of names) {
    const folder = join(data.path, name)
    await mkdir(folder)
    smscs.push(await startSmscProcess(folder, ['receiptDelay=0', `numberRefusals=${timesEach}`]))
  }
  const file = join(data.path, 'carriers.json')
  const carriers = smscs.map(({ url }, at) => ({ name: names[at], url }))
  const over = names.map((carrier, at) => ({ carrier, priority: at + 1 }))
  await writeFile(file, JSON.stringify({ carriers, routes: [{ name: 'all', carriers: over }] }))
  const environment = { DATA_DIR: data.path, CARRIERS: `file:${file}` }
  const gateway = await startApp('all-in-one', environment)
  const clientOf = async (login: string): Promise<Client> => {
    const { key } = await openAccount(environment, login, 100_000)
    return { url: gateway.url, key }
  }
  return { smscs, gateway, refused: await clientOf('refused'), other: await clientOf('other') }
}

/** Returns when each number was first submitted to a carrier, in milliseconds since 1970. */
async function firstSubmits(smscs: readonly RunningSmsc[]): Promise<ReadonlyMap<string, number>> {
  const first = new Map<string, number>()
  for (const { destinationAddr = '', at } of (await Promise.all(smscs.map((smsc) => smsc.submits()))).flat())
    first.set(destinationAddr, Math.min(first.get(destinationAddr) ?? Infinity, Date.parse(at)))
  return first
}

test.each(
  inTurn<[string, readonly string[], number, number]>([
    ['one carrier refuses thirty numbers every time', ['first'], 30, 1_000_000],
    ['two carriers refuse them', ['first', 'second'], 30, 1_000_000],
    ['a carrier refuses twelve numbers twice', ['first'], 12, 2],
    ['a carrier refuses four numbers right after the start', ['first'], 4, 1_000_000],
  ]),
)('%s: the messages of another account flow (P-17)', async (_, names, refusedCount, timesEach) => {
  const { smscs, gateway, refused, other } = await refusing(names, timesEach)
  const bad = numbersEnding(refusedCount, '96')
  for (let at = 0; at < bad.length; at += 10) await restSend(refused, bad.slice(at, at + 10))
  const good = numbersEnding(seconds * perSecond, '01', 1000)
  const sentAt = new Map<string, number>()
  const begun = performance.now()
  for (const [nth, number] of good.entries()) {
    await delay(Math.max(0, begun + (nth * 1000) / perSecond - performance.now()))
    sentAt.set(number, Date.now())
    await restSend(other, [number])
  }
  const seen = await until(async () => {
    const submits = await firstSubmits(smscs)
    return good.every((number) => submits.has(number)) && bad.every((number) => submits.has(number)) && submits
  }, 10_000)
  const waits = good
    .map((number) => (seen.get(number) ?? Infinity) - (sentAt.get(number) ?? 0))
    .toSorted((a, b) => a - b)
  expect(waits.at(-1)).toBeLessThan(5000)
  expect(waits[Math.floor(waits.length * 0.8)]).toBeLessThan(1000)
  // The burst of refusals may have opened a circuit. Accepted messages close it again.
  await until(async () => {
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
    const circuits = [...metrics.matchAll(/^gateway_carrier_circuit_open\{[^}]*\} (\d)/gm)]
    return circuits.length === names.length && circuits[0]?.[1] === '0'
  }, 15_000)
  expect(await gateway.stop()).toBe(0)
})

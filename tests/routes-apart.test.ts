import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '@gateway/core/testing'
import { openAccount } from './support/accounts.ts'
import { restSend, restStatus, untilCodes } from './support/clients.ts'
import { numbersEnding } from './support/numbers.ts'
import { operate } from './support/operate.ts'
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

const perSend = 1000
const queuedForSlow = 3000
const singles = 200
const singlesAtOnce = 4

/** Starts two carriers: numbers that begin with 2783 go over `other`, all others over `quick`. */
async function twoRoutes(ofOther: readonly string[]) {
  const start = async (name: string, settings: readonly string[]): Promise<RunningSmsc> => {
    const folder = join(data.path, name)
    await mkdir(folder)
    return startSmscProcess(folder, ['receiptDelay=0', ...settings])
  }
  const [quick, other] = await Promise.all([start('quick', []), start('other', ofOther)])
  const file = join(data.path, 'carriers.json')
  const carriers = [
    { name: 'quick', url: quick.url },
    { name: 'other', url: `${other.url}?responseSeconds=3` },
  ]
  const routes = [
    { name: 'other', prefixes: ['2783'], carriers: [{ carrier: 'other' }] },
    { name: 'all', carriers: [{ carrier: 'quick' }] },
  ]
  await writeFile(file, JSON.stringify({ carriers, routes }))
  const environment = { DATA_DIR: data.path, CARRIERS: `file:${file}` }
  const gateway = await startApp('all-in-one', environment)
  const { key } = await openAccount(environment, 'routes', 100_000)
  return { quick, other, environment, gateway, client: { url: gateway.url, key } }
}

type Routed = Awaited<ReturnType<typeof twoRoutes>>

const toOther = (number: string): string => `2783${number.slice(4)}`
const numbersOf = async (smsc: RunningSmsc): Promise<readonly string[]> =>
  (await smsc.submits()).map(({ destinationAddr = '' }) => destinationAddr).toSorted()

const codesOf = async ({ client }: Routed, ids: readonly (number | string)[]): Promise<readonly number[]> =>
  (await restStatus(client, ids.map(Number))).map(({ statusCode }) => statusCode)

/**
 * Sends the numbers one by one. Returns the 99th percentile of the time from a request until the carrier received the
 * message, in milliseconds.
 */
async function submittedWithin({ client, quick }: Routed, numbers: readonly string[]): Promise<number> {
  const sendTimes = new Map<string, number>()
  const waiting = [...numbers]
  const send = async (): Promise<void> => {
    for (let number = waiting.shift(); number !== undefined; number = waiting.shift()) {
      sendTimes.set(number, Date.now())
      await restSend(client, [number])
    }
  }
  await Promise.all(Array.from({ length: singlesAtOnce }, send))
  const mine = async () => (await quick.submits()).filter(({ destinationAddr = '' }) => sendTimes.has(destinationAddr))
  await until(async () => (await mine()).length >= numbers.length)
  const waits = (await mine()).map(
    ({ at, destinationAddr = '' }) => Date.parse(at) - (sendTimes.get(destinationAddr) ?? 0),
  )
  return waits.toSorted((a, b) => a - b)[Math.ceil(waits.length * 0.99) - 1] ?? NaN
}

test.each([
  ['answers nothing', 'isSilent=true'],
  ['answers one message a second', 'answersPerSecond=1'],
])(
  'behind thousands of messages for a carrier that %s, single sends over another leave within a second, and none is lost',
  async (_, setting) => {
    const routed = await twoRoutes([setting])
    const { quick, other, client, environment } = routed
    const before = numbersEnding(singles, '01', 50_000)
    const alone = await submittedWithin(routed, before)

    const ofSlow = numbersEnding(queuedForSlow).map(toOther)
    const slow: (number | string)[] = []
    for (let at = 0; at < queuedForSlow; at += perSend) {
      slow.push(...(await restSend(client, ofSlow.slice(at, at + perSend))))
    }
    const wasAsked = async () => (await other.journal()).some(({ command }) => command === 'submit_sm')
    await until(wasAsked)
    const behind = numbersEnding(singles, '01', 60_000)
    // The bound depends on the time without a queue, because on a busy machine even that may exceed a second.
    expect(await submittedWithin(routed, behind)).toBeLessThanOrEqual(Math.max(1000, 3 * alone))
    const ofBulk = numbersEnding(perSend, '01', 70_000)
    const bulk = await restSend(client, ofBulk)
    await untilCodes(client, bulk, (code) => code === 0)
    // More than half of the messages for the slow route still waited at this time.
    expect((await numbersOf(other)).length).toBeLessThan(queuedForSlow / 2)

    await other.become('default', { receiptDelay: 0 })
    await untilCodes(client, slow, (code) => code === 0 || code === 106)
    const unanswered = (await codesOf(routed, slow)).filter((code) => code === 106).length
    expect(unanswered).toBeLessThanOrEqual(200)
    expect(await numbersOf(other)).toEqual(ofSlow.toSorted())
    expect(await numbersOf(quick)).toEqual([...before, ...behind, ...ofBulk].toSorted())
    expect((await operate(['credits', 'verify'], environment)).code).toBe(0)
  },
  240_000,
)

test('a send of 1000 numbers over two alternating routes: each carrier gets its own, once, and all are delivered', async () => {
  const routed = await twoRoutes([])
  const { quick, other, client, gateway, environment } = routed
  const numbers = numbersEnding(perSend).map((number, at) => (at % 2 === 0 ? number : toOther(number)))
  const ids = await restSend(client, numbers)
  await untilCodes(client, ids, (code) => code === 0)
  const isOther = (number: string): boolean => number.startsWith('2783')
  expect(await numbersOf(other)).toEqual(numbers.filter(isOther).toSorted())
  expect(await numbersOf(quick)).toEqual(numbers.filter((number) => !isOther(number)).toSorted())
  expect((await operate(['credits', 'verify'], environment)).code).toBe(0)
  expect(await gateway.stop()).toBe(0)
}, 120_000)

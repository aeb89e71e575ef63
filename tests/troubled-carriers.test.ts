import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@gateway/core/testing'
import { openAccount } from './support/accounts.ts'
import { restSend, restStatus, type Client } from './support/clients.ts'
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

/** Seconds of trouble. A long run by hand has `TROUBLED_SECONDS=600` and uses the default settings of a carrier. */
const setting = process.env['TROUBLED_SECONDS']
const seconds = Number(setting ?? 12)
const settings = setting === undefined ? '?silentSeconds=1&probeSeconds=1&probeSecondsMax=3&responseSeconds=4' : ''
/**
 * Seconds from the first message until the gateway should have adapted to the trouble. Earlier messages are not judged.
 */
const firstSeconds = setting === undefined ? 3 : 40
const perSecond = 5
const wellWithinSeconds = setting === undefined ? 10 : 60
/**
 * Maximum share of the messages sent after the recovery that may still go over the next carrier. It is larger in the
 * short form, which recovers more slowly on a busy machine.
 */
const overNextMost = setting === undefined ? 1 / 2 : 1 / 5
const unknownMax = setting === undefined ? 8 : 20

/** Starts a gateway with two carriers. The first carrier has the better priority and is in trouble. */
async function troubled(trouble: readonly string[]) {
  const start = async (name: string, more: readonly string[]): Promise<RunningSmsc> => {
    const folder = join(data.path, name)
    await mkdir(folder)
    return startSmscProcess(folder, ['receiptDelay=0', ...more])
  }
  const [first, second] = await Promise.all([start('first', trouble), start('second', [])])
  const file = join(data.path, 'carriers.json')
  const carriers = [
    { name: 'first', url: `${first.url}${settings}` },
    { name: 'second', url: `${second.url}${settings}` },
  ]
  const over = [
    { carrier: 'first', priority: 1 },
    { carrier: 'second', priority: 2 },
  ]
  await writeFile(file, JSON.stringify({ carriers, routes: [{ name: 'all', carriers: over }] }))
  const environment = { DATA_DIR: data.path, CARRIERS: `file:${file}` }
  const gateway = await startApp('all-in-one', environment)
  const { key } = await openAccount(environment, 'troubled', 100_000)
  return { first, second, gateway, client: { url: gateway.url, key } }
}

interface Sent {
  readonly id: number
  readonly number: string
  readonly at: number
}

/** Sends messages one after another, at a fixed rate, for this many seconds. */
async function sendSteadily(client: Client, from: number, forSeconds: number): Promise<readonly Sent[]> {
  const numbers = numbersEnding(Math.round(forSeconds * perSecond), '01', from)
  const begun = performance.now()
  const sent: Promise<Sent>[] = []
  for (const [nth, number] of numbers.entries()) {
    await delay(Math.max(0, begun + (nth * 1000) / perSecond - performance.now()))
    const at = Date.now()
    sent.push(restSend(client, [number]).then(([id]) => ({ id: Number(id), number, at })))
  }
  return Promise.all(sent)
}

const codesOf = async (client: Client, sent: readonly Sent[]): Promise<ReadonlyMap<number, number>> =>
  new Map(
    (
      await restStatus(
        client,
        sent.map(({ id }) => id),
      )
    ).map((one) => [one.apiMessageId, one.statusCode]),
  )

const submitsTo = async (smsc: RunningSmsc): Promise<ReadonlyMap<string, number>> =>
  new Map((await smsc.submits()).map(({ destinationAddr = '', at }) => [destinationAddr, Date.parse(at)]))

test.each(
  inTurn<[string, readonly string[], number]>([
    ['answers nothing at all', ['isSilent=true'], unknownMax],
    ['takes one message a second', ['submitsPerSecond=1'], 0],
    ['refuses all for now', ['submitsPerSecond=1', 'refusalStatus=8'], 0],
  ]),
)(
  'the best carrier %s: the next one carries steady traffic, and the first has it back once it is well',
  async (_, trouble, most) => {
    const { first, second, gateway, client } = await troubled(trouble)
    const sent = await sendSteadily(client, 0, seconds)
    const isDecided = (code: number): boolean => code === 0 || code === 106
    await until(async () => [...(await codesOf(client, sent)).values()].every(isDecided), 60_000)
    const unknown = [...(await codesOf(client, sent)).values()].filter((code) => code === 106).length
    expect(unknown).toBeLessThanOrEqual(most)

    const seen = await Promise.all([submitsTo(second), submitsTo(first)])
    const waits = sent
      .filter(({ at }) => at >= (sent[0]?.at ?? 0) + firstSeconds * 1000)
      .map(({ number, at }) => (seen[0].get(number) ?? seen[1].get(number) ?? Infinity) - at)
      .toSorted((a, b) => a - b)
    const p95 = waits[Math.ceil(waits.length * 0.95) - 1] ?? NaN
    if (setting !== undefined) console.log({ sent: sent.length, unknown, p95, longest: waits.at(-1) })
    expect(p95).toBeLessThan(setting === undefined ? 2000 : 5000)

    await first.become('default', { receiptDelay: 0 })
    const wellAt = Date.now()
    const after = sendSteadily(client, sent.length, wellWithinSeconds + 5)
    await after
    await until(async () => [...(await codesOf(client, await after)).values()].every((code) => code === 0), 30_000)
    const back = await submitsTo(first)
    const late = (await after).filter(({ at }) => at > wellAt + wellWithinSeconds * 1000)
    expect(late.length).toBeGreaterThan(10)
    // For a minute after throttling, the reduced rate of the first carrier may cause a message to be sent over the next
    // one.
    expect(late.filter(({ number }) => !back.has(number)).length).toBeLessThanOrEqual(late.length * overNextMost)
    const lines = gateway.output().split('\n')
    const opened = lines.filter((line) => line.includes('gets no messages but probes')).length
    expect(opened).toBeLessThanOrEqual(1)
    expect(lines.filter((line) => line.includes('it answers again after')).length).toBe(opened)
    expect(await gateway.stop()).toBe(0)
  },
  Math.max(120_000, (seconds + wellWithinSeconds) * 2000),
)

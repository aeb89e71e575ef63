import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '@gateway/core/testing'
import { openAccount } from './support/accounts.ts'
import { restSend, restStatus, untilCodes, type Client } from './support/clients.ts'
import { numbersEnding } from './support/numbers.ts'
import { databaseFolder, killLeftovers, startApp, type Environment } from './support/process.ts'
import { startSmscProcess, type RunningSmsc } from './support/smsc.ts'

afterEach(killLeftovers)

/** Set by hand, such as `KILLS=20`. */
const setting = process.env['KILLS']

/**
 * Starts a gateway with one carrier whose window is 50. The lease is long, because a lease that expired on a busy
 * machine would make more messages unknown than a kill does.
 */
async function gatewayOf(settings: readonly string[]) {
  const data = await databaseFolder()
  const folder = join(data.path, 'smsc')
  await mkdir(folder)
  const smsc = await startSmscProcess(folder, settings)
  const environment: Environment = { DATA_DIR: data.path, LEASE_SECONDS: '6', CARRIERS: `${smsc.url}?window=50` }
  const rest = await startApp('rest', environment)
  const { key } = await openAccount(environment, 'window', 100_000)
  const client: Client = { url: rest.url, key }
  const known = new Map<number, string>()
  let sent = 0
  const send = async (count: number): Promise<void> => {
    const numbers = numbersEnding(count, '01', sent)
    sent += count
    for (const [i, id] of (await restSend(client, numbers)).entries())
      if (typeof id === 'number') known.set(id, numbers[i] ?? '')
  }
  return { data, smsc, environment, rest, client, known, send }
}

const countOf = async (smsc: RunningSmsc): Promise<number> => (await smsc.submits()).length

/** Waits until no message waits any more. Then counts the messages with SENT 106 that the carrier never received. */
async function neverSeen({ smsc, client, known }: Awaited<ReturnType<typeof gatewayOf>>): Promise<number> {
  const statuses = async () => restStatus(client, [...known.keys()])
  await untilCodes(client, [...known.keys()], (code) => code === 0 || code === 106, 120_000)
  const seen = new Set((await smsc.submits()).map(({ destinationAddr }) => destinationAddr))
  const unknown = (await statuses()).filter(({ statusCode }) => statusCode === 106)
  return unknown.filter(({ apiMessageId }) => !seen.has(known.get(apiMessageId) ?? '')).length
}

/**
 * Kills the dispatcher this many times. For each kill, returns the number of messages that became unknown although the
 * carrier never received them.
 */
async function lostBy(kills: number, settings: readonly string[], sends: readonly number[], seenBefore: number) {
  const gateway = await gatewayOf(settings)
  const { data, smsc, environment, rest, send } = gateway
  const changes = Object.fromEntries(settings.map((one) => one.split('=')).map(([name = '', n]) => [name, Number(n)]))
  const lost: number[] = []
  try {
    for (let kill = 0; kill < kills; kill++) {
      await smsc.become('default', changes)
      const killed = await startApp('dispatcher', environment)
      const before = await countOf(smsc)
      await Promise.all(sends.map(send))
      await until(async () => (await countOf(smsc)) >= before + seenBefore, 60_000)
      await killed.stop('SIGKILL')
      await smsc.become('default', { receiptDelay: 0 })
      const next = await startApp('dispatcher', environment)
      lost.push((await neverSeen(gateway)) - lost.reduce((sum, count) => sum + count, 0))
      expect(await next.stop()).toBe(0)
    }
    expect(await rest.stop()).toBe(0)
  } finally {
    killLeftovers()
    await data.remove()
  }
  if (setting !== undefined) console.log(lost.join(' '))
  return lost
}

const limitMilliseconds = 120_000 * (Number(setting ?? 0) + 2)

test(
  'kill -9 with a carrier that answers one a second leaves at most five unknown that it never saw',
  async () => {
    const lost = await lostBy(Number(setting ?? 1), ['answersPerSecond=1', 'receiptDelay=0'], [200], 16)
    expect(Math.max(...lost)).toBeLessThanOrEqual(5)
  },
  limitMilliseconds,
)

test(
  'kill -9 while messages flow over a window of 50 leaves at most sixty unknown that the carrier never saw',
  async () => {
    const sends = Array.from({ length: 10 }, () => 500)
    const lost = await lostBy(Number(setting ?? 1), ['receiptDelay=0'], sends, 1000)
    expect(Math.max(...lost)).toBeLessThanOrEqual(60)
  },
  limitMilliseconds,
)

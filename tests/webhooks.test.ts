import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { until } from '@gateway/core/testing'
import { openAccount } from './support/accounts.ts'
import { rest, restSend, restStatus, type Client } from './support/clients.ts'
import { numbersEnding } from './support/numbers.ts'
import { operateJson } from './support/operate.ts'
import { databaseFolder, killLeftovers, root, startApp, type Environment, type Started } from './support/process.ts'
import { submissions } from './support/record.ts'

afterEach(killLeftovers)

interface Printed {
  readonly id: string
  readonly type: string
  readonly data: { readonly mobileNumber: string }
}

/** Starts the receiver of docs/interfaces, which verifies with the package standardwebhooks and prints each id once. */
function startReceiver(port: number, secret: string) {
  const child = spawn(process.execPath, [join(root, 'docs/interfaces/webhook-receiver/receiver.mjs')], {
    env: { ...process.env, SECRET: secret, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  const lines = () => output.slice(0, output.lastIndexOf('\n') + 1).split('\n')
  return {
    /** Resolves to the port of the receiver. */
    port: () => until(() => /listening on (\d+)/.exec(output)?.[1], 60_000),
    events: (): readonly Printed[] =>
      lines()
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Printed),
    stop: () => child.kill(),
  }
}

const perMoment = 5

/**
 * Conditions after which the gateway is killed. `seen` contains the events that arrived for the numbers of this moment.
 */
const moments: readonly (readonly [string, (seen: readonly Printed[], submitted: number) => boolean])[] = [
  ['at once', () => true],
  ['when a message has been submitted', (_seen, submitted) => submitted > 0],
  ['when a delivery was pushed', (seen) => seen.some(({ type }) => type === 'message.delivered')],
  ['when a reply was pushed', (seen) => seen.some(({ type }) => type === 'reply.received')],
]

test('deliveries, replies and opt-outs reach the receiver of the docs, each under one id, whenever the gateway is killed', async () => {
  const data = await databaseFolder()
  const environment: Environment = {
    DATA_DIR: data.path,
    CARRIERS: 'simulator:?delayMs=20',
    LEASE_SECONDS: '2',
    WEBHOOK_HTTP: 'true',
    WEBHOOK_ALLOW: '127.0.0.0/8',
  }
  let gateway: Started | undefined
  let receiver: ReturnType<typeof startReceiver> | undefined
  try {
    gateway = await startApp('all-in-one', environment)
    const { id: account, key } = await openAccount(environment, 'pushed', 100)
    // The endpoint is added with a placeholder port. The receiver needs the secret of the endpoint to start, and its
    // port is known only then.
    const url = 'http://127.0.0.1:1024/events'
    const add = ['webhook', 'add', '--account', String(account), '--url', url]
    const { id, secret } = await operateJson<{ id: number; secret: string }>(add, environment)
    receiver = startReceiver(0, secret)
    const { events, port } = receiver
    const change = { method: 'PATCH', headers: { Authorization: key, 'Content-Type': 'application/json' } }
    const at = `http://127.0.0.1:${await port()}/events`
    const path = `${gateway.url}/api/rest/v1/webhooks/${id}`
    expect((await fetch(path, { ...change, body: JSON.stringify({ url: at }) })).status).toBe(200)

    const ids = new Map<string, number>()
    for (const [moment, [, isReached]] of moments.entries()) {
      const client: Client = { url: gateway.url, key }
      const numbers = numbersEnding(perMoment, '89', moment * perMoment)
      const before = (await submissions(data.path)).length
      const results = await restSend(client, numbers)
      numbers.forEach((number, i) => ids.set(number, Number(results[i])))
      await until(async () => {
        const seen = events().filter((event) => numbers.includes(event.data.mobileNumber))
        return isReached(seen, (await submissions(data.path)).length - before)
      }, 60_000)
      await gateway.stop('SIGKILL')
      gateway = await startApp('all-in-one', environment)
    }

    const client: Client = { url: gateway.url, key }
    const typesOf = (number: string) =>
      events()
        .filter((event) => event.data.mobileNumber === number)
        .map(({ type }) => type)
        .filter((type) => type !== 'message.unknown')
        .sort()
    const all = ['message.delivered', 'optout.added', 'reply.received']
    /**
     * Returns true when every message has all its events or can have no more. A message that was marked and never
     * submitted stays unknown, and its recipient does not reply.
     */
    const isDone = async (): Promise<boolean> => {
      const sought = [...ids].filter(([number]) => typesOf(number).length < all.length)
      const unknown = events().filter(({ type }) => type === 'message.unknown')
      const statuses = await restStatus(
        client,
        sought.map(([, each]) => each),
      )
      const accepted = new Set((await submissions(data.path)).map(({ messageId }) => messageId))
      return sought.every(
        ([number, each], i) =>
          statuses[i]?.statusCode === 106 &&
          !accepted.has(each) &&
          unknown.some(({ data: { mobileNumber } }) => mobileNumber === number),
      )
    }
    await until(isDone, 240_000)
    const complete = [...ids.keys()].filter((number) => typesOf(number).length > 0)
    expect(complete.length).toBeGreaterThan(perMoment)
    // The receiver prints each event id only once. If an event had been pushed under two ids, its type would occur
    // twice in the list.
    for (const number of complete) expect([number, typesOf(number)]).toEqual([number, all])
    const waiting = await rest<{ waiting: object }>(client, `/webhooks/${id}`)
    expect(waiting.waiting).toMatchObject({ events: 0, deadLists: 0 })
  } finally {
    receiver?.stop()
    await gateway?.stop()
    await data.remove()
  }
}, 420_000)

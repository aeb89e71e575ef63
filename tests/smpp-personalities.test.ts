import { runsEveryForm, until } from '@gateway/core/testing'
import type { DeliverSm } from '@gateway/smpp'
import { openAccount, type NewAccount } from './support/accounts.ts'
import { restBalance } from './support/clients.ts'
import { freePorts } from './support/free-ports.ts'
import { startAllInOne, type RunningGateway } from './support/gateways.ts'
import { operateJson } from './support/operate.ts'
import { killLeftovers } from './support/process.ts'
import { addCredential, bindClient, receiptedId, type SmppLogin } from './support/smpp-customers.ts'
import { personalities, PersonalityClient, type Personality } from './support/smpp-personalities.ts'

/** Messages of all personalities together. As many replies come back, and a receipt for each part. */
const messages = runsEveryForm ? 20_000 : 1000
const credits = 100_000
/** Milliseconds for the receipts and replies after all submissions were answered. */
const settleMilliseconds = 300_000

let gateway: RunningGateway
let port: number

const loginOf = async (name: string, ...options: readonly string[]): Promise<SmppLogin> => {
  const { id } = await openAccount(gateway.environment, name, credits)
  return addCredential(gateway.environment, id, ...options)
}
const isReceipt = ({ esmClass }: DeliverSm): boolean => esmClass === 4

beforeAll(async () => {
  port = (await freePorts(1))[0] ?? 0
  gateway = await startAllInOne({ SMPP_PORT: String(port), CARRIERS: 'simulator:?delayMs=10&window=1000' })
}, 180_000)
afterAll(async () => {
  await gateway.stop()
  killLeftovers()
}, 120_000)

interface Customer {
  readonly personality: Personality
  readonly account: NewAccount
  readonly client: PersonalityClient
  readonly numbers: readonly string[]
}

async function openCustomer(personality: Personality, index: number): Promise<Customer> {
  const account = await openAccount(gateway.environment, `personality${index}`, credits)
  const login = await addCredential(gateway.environment, account.id, ...personality.credential)
  const client = await PersonalityClient.bind(port, login, personality)
  const count = messages / personalities.length
  // The simulated carrier delivers to numbers with this ending, and they reply.
  const numbers = Array.from({ length: count }, (_, at) => `278${index}${String(at).padStart(5, '0')}88`)
  return { personality, account, client, numbers }
}

test('every client gets an id and a receipt for every part, and every reply, whatever its habits', async () => {
  const customers: Customer[] = []
  for (const [index, personality] of personalities.entries()) customers.push(await openCustomer(personality, index))
  await Promise.all(customers.map(({ client, numbers }) => client.submit(numbers)))
  for (const { personality, account, client, numbers } of customers) {
    const parts = numbers.length * personality.parts
    await until(() => {
      const results = client.results()
      return results.receipts.size === parts && results.replies.size === numbers.length
    }, settleMilliseconds)
    const { ids, receipts, replies, refusedForNow, repeated } = client.results()
    process.stdout.write(`${personality.title}: ${refusedForNow} refused for now, ${repeated} repeated\n`)
    const answered = [...ids.values()].flat()
    expect(receipts).toEqual(new Set(answered))
    expect(replies).toEqual(new Set(numbers))
    const balance = await restBalance({ url: gateway.restUrl, key: account.key })
    expect(balance).toBe(credits - parts)
    await client.unbind()
  }
  const floods = customers.find(({ personality: { window } }) => window === Infinity)
  expect(floods?.client.results().refusedForNow).toBeGreaterThan(0)
  const numbers = (await gateway.carrier.submitted()).map(({ number }) => number)
  expect(new Set(numbers).size).toBe(numbers.length)
  expect(numbers.length).toBe(messages)
  await operateJson(['credits', 'verify'], gateway.environment)
}, 900_000)

test('a client that never reads loses no receipt: all come to its next bind', async () => {
  const login = await loginOf('unread', '--per-second', '1000')
  const deaf = await bindClient(port, login)
  deaf.socket.pause()
  // One submission after the other is within the window only if the responses are written, whoever reads them.
  const submitted = Array.from({ length: 10 }, (_, at) => {
    const number = `2787000${at}001`
    deaf.submit(number, 'Hello').catch(() => undefined)
    return number
  })
  await until(async () => {
    const carried = new Set((await gateway.carrier.submitted()).map(({ number }) => number))
    return submitted.every((number) => carried.has(number))
  })
  deaf.destroy()
  const next = await bindClient(port, login)
  await until(() => new Set(next.deliveries.filter(isReceipt).map(({ sourceAddr }) => sourceAddr)).size === 10)
  await next.unbind()
})

test('a half-open bind is replaced within 4 s, and its receipts come to the new one', async () => {
  const login = await loginOf('half-open', '--binds', '1')
  const dead = await bindClient(port, login, { isAlive: false, deliveryStatus: () => 'none' })
  const response = await dead.submit('27870100001', 'Hello')
  await until(() => dead.deliveries.some(isReceipt))
  const began = performance.now()
  const alive = await bindClient(port, login)
  expect(performance.now() - began).toBeLessThan(4000)
  await until(() => alive.deliveries.some(isReceipt))
  const [receipt] = alive.deliveries
  expect(receipt && receiptedId(receipt.shortMessage)).toBe('messageId' in response && response.messageId)
  await alive.unbind()
})

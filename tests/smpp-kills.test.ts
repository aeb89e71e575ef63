import { runsEveryForm, until } from '@gateway/core/testing'
import type { SmppClient } from '../apps/smpp/testing/smpp-client.ts'
import { openAccount, type NewAccount } from './support/accounts.ts'
import { freePorts } from './support/free-ports.ts'
import { startAllInOne, type RunningGateway } from './support/gateways.ts'
import { operateJson } from './support/operate.ts'
import { killLeftovers, startApp, type Started } from './support/process.ts'
import { addCredential, bindClient, receiptedId, type SmppLogin } from './support/smpp-customers.ts'

const bindsOfEach = 4
const kills = runsEveryForm ? 3 : 2

let gateway: RunningGateway
let smpp: Started
let port: number
const customers: Customer[] = []

/** Customer whose binds submit without end and bind again after a lost connection. */
class Customer {
  readonly account: NewAccount
  readonly login: SmppLogin
  /** Numbers by the id of the response. */
  readonly answered = new Map<string, string>()
  readonly submitted: string[] = []
  readonly receipted = new Set<string>()
  isStopping = false
  readonly #prefix: string

  constructor(account: NewAccount, login: SmppLogin, index: number) {
    this.account = account
    this.login = login
    this.#prefix = `278${index}`
  }

  /** Submits to a new number again and again over one bind. Never repeats a submission without a response. */
  async run(): Promise<void> {
    while (!this.isStopping) {
      const client = await bindClient(port, this.login).catch(() => undefined)
      if (client === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 50))
        continue
      }
      await this.#submit(client).catch(() => undefined)
      this.#collect(client)
      client.destroy()
    }
  }

  /** Reads receipts over one bind until all have arrived. */
  async receive(): Promise<void> {
    const client = await bindClient(port, this.login)
    await until(() => {
      this.#collect(client)
      return [...this.answered.keys()].every((id) => this.receipted.has(id))
    }, 90_000)
    await client.unbind()
  }

  async #submit(client: SmppClient): Promise<void> {
    while (!this.isStopping && !client.isClosed) {
      // The simulated carrier delivers messages to numbers that end in 01.
      const number = `${this.#prefix}${String(this.submitted.length).padStart(5, '0')}01`
      this.submitted.push(number)
      const response = await client.submit(number, 'hello')
      if (response.status === 0 && 'messageId' in response) this.answered.set(response.messageId, number)
    }
  }

  #collect({ deliveries }: SmppClient): void {
    for (const { shortMessage } of deliveries) this.receipted.add(receiptedId(shortMessage))
  }
}

beforeAll(async () => {
  port = (await freePorts(1))[0] ?? 0
  gateway = await startAllInOne()
  smpp = await startApp('smpp', { ...gateway.environment, SMPP_PORT: String(port) })
  for (const index of [2, 3, 6]) {
    const account = await openAccount(gateway.environment, `customer${index}`, 100_000)
    const limits = ['--binds', String(bindsOfEach), '--per-second', '100']
    customers.push(new Customer(account, await addCredential(gateway.environment, account.id, ...limits), index))
  }
}, 180_000)
afterAll(async () => {
  await smpp.stop()
  await gateway.stop()
  killLeftovers()
}, 120_000)

test('kill -9 of the SMPP server loses and doubles nothing that was answered, and each receipt arrives at its account', async () => {
  const running = customers.flatMap((customer) => Array.from({ length: bindsOfEach }, () => customer.run()))
  for (let kill = 0; kill < kills; kill++) {
    const before = customers.map(({ answered }) => answered.size)
    await until(() => customers.every(({ answered }, at) => answered.size > (before[at] ?? 0) + 50), 60_000)
    await smpp.stop('SIGKILL')
    smpp = await startApp('smpp', { ...gateway.environment, SMPP_PORT: String(port) })
  }
  for (const customer of customers) customer.isStopping = true
  await Promise.all(running)
  await Promise.all(customers.map((customer) => customer.receive()))

  const handed = (await gateway.carrier.submitted()).map(({ number }) => number)
  expect(new Set(handed).size).toBe(handed.length)
  for (const { answered, submitted, receipted } of customers) {
    expect(answered.size).toBeGreaterThan(kills * 50)
    expect(handed).toEqual(expect.arrayContaining([...answered.values()]))
    // A receipt for a submission whose response was lost is possible, one of another account is not.
    const numbers = new Set(submitted)
    for (const id of receipted) if (answered.has(id)) expect(numbers).toContain(answered.get(id))
    for (const other of customers.filter((one) => one.answered !== answered))
      for (const id of other.answered.keys()) expect(receipted).not.toContain(id)
  }
  // Exits with an error unless every balance is the sum of its ledger.
  await operateJson(['credits', 'verify'], gateway.environment)
}, 300_000)

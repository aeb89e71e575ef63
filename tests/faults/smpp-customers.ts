import { setTimeout as delay } from 'node:timers/promises'
import type { Chance } from '@gateway/core/testing'
import { COMMAND_STATUS, type DeliverSm } from '@gateway/smpp'
import type { SmppClient } from '../../apps/smpp/testing/smpp-client.ts'
import { bindClient, receiptedId, type SmppLogin } from '../support/smpp-customers.ts'
import type { Figures } from './figures.ts'
import type { AccountUnderTest } from './load.ts'
import type { Observations } from './observations.ts'
import type { Gateway } from './operator.ts'

/** Response to a submission: an id, or the `command_status` of a refusal and its time by performance.now(). */
export type PartResponse = { readonly id: number } | { readonly status: number; readonly at: number }

/** Text that a customer submitted. Each text goes to a number of its own. */
export interface SubmittedText {
  readonly account: number
  readonly number: string
  readonly wantsReceipt: boolean
  /** Latest response to each part; undefined: none arrived. A text that needs no user data header has one part. */
  readonly responses: (PartResponse | undefined)[]
}

/** Receipt or reply that arrived over a bind of an account. */
export interface Arrival {
  readonly account: number
  readonly isReceipt: boolean
  /** Number of the recipient, who is the sender of a reply. */
  readonly from: string
  readonly text: string
}

export interface CustomersSettings {
  readonly chance: Chance
  readonly figures: Figures
  readonly observations: Observations
  readonly gateway: Gateway
  readonly port: number
  /** Endings of numbers with unusual outcomes. */
  readonly odd: readonly string[]
}

export interface RunningCustomers {
  readonly accounts: readonly AccountUnderTest[]
  readonly texts: readonly SubmittedText[]
  readonly arrivals: readonly Arrival[]
  /** Submits over all binds until `end`, by performance.now(). */
  submitUntil(end: number): Promise<void>
  /** Binds a client for each account that acknowledges every delivery. Resolves soon after the signal. */
  receive(over: AbortSignal): Promise<void>
}

const accountCount = 5
const bindsOfEach = 4
const modes = ['bind_transceiver', 'bind_transceiver', 'bind_transmitter', 'bind_receiver'] as const
/** Texts that one account submits at the same time, each over any of its transmitting binds. */
const textsAtOnce = 3
const partCounts = [1, 1, 1, 2, 3] as const
/** Attempts for one part, of which all but the last were temporarily refused. */
const triesMax = 20

/** Opens five accounts with a credential each. Their binds are opened by `submitUntil`. */
export async function openCustomers(settings: CustomersSettings): Promise<RunningCustomers> {
  const texts: SubmittedText[] = []
  const arrivals: Arrival[] = []
  const customers: Customer[] = []
  const json = async <Result>(...args: readonly string[]): Promise<Result> => {
    const { code, out } = await settings.gateway(...args, '--json')
    if (code !== 0) throw new Error(`gateway ${args.join(' ')} ended with ${String(code)}: ${out}`)
    return JSON.parse(out) as Result
  }
  for (let index = 0; index < accountCount; index++) {
    const { id } = await json<{ id: number }>('account', 'open', '--login', `smpp${index}`, '--credits', '500000')
    const { key } = await json<{ key: string }>('key', 'issue', String(id))
    const limits = ['--binds', String(bindsOfEach), '--per-second', '100']
    const login = await json<SmppLogin>('smpp', 'add', '--account', String(id), ...limits)
    customers.push(new Customer({ id, key, related: false, poor: false }, login, settings, { texts, arrivals }))
  }
  return {
    accounts: customers.map(({ account }) => account),
    texts,
    arrivals,
    submitUntil: async (end) => {
      await Promise.all(customers.map((customer) => customer.submitUntil(end)))
    },
    receive: async (over) => {
      await Promise.all(customers.map((customer) => customer.receive(over)))
    },
  }
}

/** Customer whose clients leave, freeze, come back, and temporarily refuse some deliveries. */
class Customer {
  readonly account: AccountUnderTest
  readonly #login: SmppLogin
  readonly #settings: CustomersSettings
  readonly #record: { readonly texts: SubmittedText[]; readonly arrivals: Arrival[] }
  readonly #transmitters = new Set<SmppClient>()
  #references = 0

  constructor(
    account: AccountUnderTest,
    login: SmppLogin,
    settings: CustomersSettings,
    record: { readonly texts: SubmittedText[]; readonly arrivals: Arrival[] },
  ) {
    this.account = account
    this.#login = login
    this.#settings = settings
    this.#record = record
  }

  async submitUntil(end: number): Promise<void> {
    const { chance } = this.#settings
    const isOver = () => performance.now() > end
    const submit = async () => {
      while (!isOver()) {
        await this.#submitText(end)
        await delay(chance.between(20, 400))
      }
    }
    await Promise.all([
      ...modes.map((command) => this.#keepBound(command, end)),
      ...Array.from({ length: textsAtOnce }, submit),
    ])
  }

  /** Acknowledges deliveries over one bind, which is opened again whenever it ends. */
  async receive(over: AbortSignal): Promise<void> {
    const isOver = () => over.aborted
    while (!isOver()) {
      const client = await this.#bind('bind_transceiver', () => COMMAND_STATUS.ESME_ROK)
      while (client !== undefined && !isOver() && !client.isClosed) await delay(50)
      client?.destroy()
      await delay(200)
    }
  }

  /** Keeps a client bound whose connections last a few seconds and end in different ways. */
  async #keepBound(command: (typeof modes)[number], end: number): Promise<void> {
    const { chance, figures } = this.#settings
    const isOver = () => performance.now() > end
    while (!isOver()) {
      const client = await this.#bind(command, () => this.#deliveryStatus())
      if (client === undefined) {
        await delay(chance.between(50, 500))
        continue
      }
      figures.count(`SMPP: ${command}`)
      if (command !== 'bind_receiver') this.#transmitters.add(client)
      const leavesAt = Math.min(end, performance.now() + chance.between(1000, 8000))
      while (!client.isClosed && performance.now() < leavesAt) await delay(50)
      this.#transmitters.delete(client)
      await this.#leave(client)
    }
  }

  async #leave(client: SmppClient): Promise<void> {
    const { chance, figures } = this.#settings
    const how = client.isClosed ? 'closed by the server' : chance.one(['unbinds', 'leaves', 'freezes', 'comes back'])
    figures.count(`SMPP: a client ${how}`)
    if (how === 'unbinds') await Promise.race([client.unbind().catch(() => undefined), delay(5000)])
    if (how === 'freezes' || how === 'comes back') {
      client.socket.pause()
      await delay(chance.between(300, 4000))
    }
    if (how === 'comes back') {
      client.socket.resume()
      await delay(500)
    }
    client.destroy()
  }

  #deliveryStatus(): number | 'none' {
    const { chance } = this.#settings
    if (chance.happens(0.9)) return COMMAND_STATUS.ESME_ROK
    return chance.one([COMMAND_STATUS.ESME_RX_T_APPN, COMMAND_STATUS.ESME_RMSGQFUL, 'none' as const])
  }

  /** Binds a client. Returns undefined if the server cannot be reached or refuses the bind. */
  async #bind(command: (typeof modes)[number], statusOf: () => number | 'none'): Promise<SmppClient | undefined> {
    const deliveryStatus = (delivery: DeliverSm) => {
      this.#arrive(delivery)
      return statusOf()
    }
    const bound = bindClient(this.#settings.port, this.#login, { deliveryStatus }, command)
    return bound.catch((error: unknown) => {
      this.#settings.figures.count(`SMPP: binds that failed: ${String(error)}`)
      return undefined
    })
  }

  #arrive({ esmClass, sourceAddr, shortMessage }: DeliverSm): void {
    const { figures, observations } = this.#settings
    const isReceipt = esmClass === 0x04
    const text = shortMessage.toString('latin1')
    this.#record.arrivals.push({ account: this.account.id, isReceipt, from: sourceAddr, text })
    figures.count(isReceipt ? 'SMPP: receipts' : 'SMPP: replies')
    // The state of a message is final when its receipt arrives, so that people reply to it.
    if (isReceipt && text.includes(' stat:DELIVRD '))
      observations.status(Number(receiptedId(shortMessage)), 0, performance.now())
  }

  async #submitText(end: number): Promise<void> {
    const { chance, observations, odd } = this.#settings
    const parts = chance.one(partCounts)
    const ending = chance.happens(0.4) ? chance.one(odd) : `0${chance.below(10)}`
    const number = `2781${String(this.#record.texts.length).padStart(5, '0')}${ending}`
    const text: SubmittedText = {
      ...{ account: this.account.id, number, wantsReceipt: chance.happens(0.9) },
      responses: Array.from({ length: parts }, () => undefined),
    }
    this.#record.texts.push(text)
    const sending: (typeof observations.sendings)[number] = { account: text.account, numbers: [number] }
    if (parts === 1) observations.sendings.push(sending)
    const reference = ++this.#references % 256
    const places = chance.shuffled(Array.from({ length: parts }, (_, at) => at))
    await Promise.all(places.map((place) => this.#submitPart(text, { place, reference }, end)))
    const [response] = text.responses
    if (parts > 1) return
    if (response !== undefined && 'id' in response) observations.accepted(sending, [response.id], undefined)
  }

  /** Submits a part until it is answered. Repeats only temporarily refused parts, never parts without a response. */
  async #submitPart(text: SubmittedText, at: { place: number; reference: number }, end: number): Promise<void> {
    const { chance, figures } = this.#settings
    for (let tries = 0; tries < triesMax; tries++) {
      const client = await this.#transmitter(end)
      if (client === undefined) return
      const response = await this.#submitOnce(client, text, at)
      if (response !== undefined) text.responses[at.place] = response
      const status = response === undefined ? 'none' : 'id' in response ? 'an id' : `0x${response.status.toString(16)}`
      figures.count(`SMPP: submissions answered ${status}`)
      if (!isRepeated(response, text.responses.length > 1)) return
      await delay(chance.between(100, 1000))
    }
  }

  async #submitOnce(
    client: SmppClient,
    { number, wantsReceipt, responses: { length: parts } }: SubmittedText,
    { place, reference }: { readonly place: number; readonly reference: number },
  ): Promise<PartResponse | undefined> {
    const header = parts === 1 ? Buffer.alloc(0) : Buffer.of(5, 0, 3, reference, parts, place + 1)
    const octets = Buffer.concat([header, Buffer.from(parts === 1 ? 'Hello' : 'x'.repeat(150))])
    const fields = { esmClass: parts === 1 ? 0 : 0x40, registeredDelivery: wantsReceipt ? 1 : 0 }
    const response = await client.submit(number, octets, fields).catch(() => undefined)
    if (response === undefined) return undefined
    const isAccepted = response.status === 0 && 'messageId' in response
    return isAccepted ? { id: Number(response.messageId) } : { status: response.status, at: performance.now() }
  }

  /** Waits for a bound transmitter. Returns undefined if there is none before the end. */
  async #transmitter(end: number): Promise<SmppClient | undefined> {
    while (performance.now() < end) {
      const bound = [...this.#transmitters].filter(({ isClosed }) => !isClosed)
      if (bound.length > 0) return this.#settings.chance.one(bound)
      await delay(50)
    }
    return undefined
  }
}

/**
 * Returns true if the client submits again. A text that was answered RSYSERR may be stored and revoked, and the run
 * sends to each number once, so only parts are submitted again then.
 */
function isRepeated(response: PartResponse | undefined, isPart: boolean): boolean {
  if (response === undefined || 'id' in response) return false
  const { status } = response
  if (status === COMMAND_STATUS.ESME_RTHROTTLED || status === COMMAND_STATUS.ESME_RMSGQFUL) return true
  return isPart && status === COMMAND_STATUS.ESME_RSYSERR
}

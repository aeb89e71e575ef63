import type { Configuration } from './configuration.ts'
import { ask, type Request, type Answer } from './http.ts'

export type Interface = 'rest' | 'asp' | 'xml'
export type Addresses = Readonly<Record<Interface, URL>>

type Accounts = Configuration['accounts']
export interface Keyed {
  readonly id: number
  readonly key: string
}

/** Reply of a person. */
export interface Reply {
  readonly from: string
  readonly to: string
  readonly text: string
}

export interface Deployment {
  readonly addresses: Addresses
  readonly configuration: Configuration
  /** Delivers a reply to the gateway. Undefined if the configuration contains no command for this. */
  readonly bringReply: ((reply: Reply) => Promise<void>) | undefined
  /** Returns a number of `numbers.delivered` that no other case uses. */
  readonly ownNumber: () => string
}

/** Message of the error that `ownNumber` throws if none is left. */
export const numbersUsedUp = 'numbers.delivered has too few numbers'

/** Error of a case for which the configuration lacks something. */
export class NotTestable extends Error {}

type RestRequest = Omit<Request, 'target' | 'body'> & {
  /** Account whose key is sent; by default the main account, null for none. */
  readonly as?: Request['as']
  readonly by?: Keyed | null
  /** Body. Anything but text and bytes is sent as JSON. */
  readonly body?: unknown
}

/** Gateway as seen by one case: its interfaces, and the resources that the case has to clean up. */
export class TestedGateway {
  readonly configuration: Configuration
  readonly main: Accounts['main']
  readonly sub: Accounts['sub']
  readonly otherSub: Accounts['otherSub']
  readonly stranger: Accounts['stranger']
  /** Last request and its response, for the report of a failure. */
  lastExchange = ''
  readonly #deployment: Deployment
  readonly #afterwards: (() => Promise<void>)[] = []
  readonly #scheduled: { readonly by: Keyed; readonly id: number }[] = []

  constructor(deployment: Deployment) {
    this.#deployment = deployment
    this.configuration = deployment.configuration
    const { main, sub, otherSub, stranger } = this.configuration.accounts
    this.main = main
    this.sub = sub
    this.otherSub = otherSub
    this.stranger = stranger
  }

  /** Returns an optional account of the configuration, or throws NotTestable. */
  account<Name extends keyof Accounts>(name: Name): NonNullable<Accounts[Name]> {
    return this.configured(this.configuration.accounts[name], `accounts.${name}`)
  }

  /** Returns an optional value of the configuration, or throws NotTestable. */
  configured<Value>(value: Value, name: string): NonNullable<Value> {
    if (value === undefined || value === null) throw new NotTestable(`the configuration has no ${name}`)
    return value
  }

  /** Returns a number whose messages are delivered, which other cases use too. */
  get number(): string {
    return this.configuration.numbers.delivered[0] ?? ''
  }

  /** Returns a number whose messages are delivered and which no other case uses. */
  ownNumber(): string {
    return this.#deployment.ownNumber()
  }

  async raw(to: Interface, request: Request): Promise<Answer> {
    const line = `${request.method ?? 'GET'} ${request.target}`
    this.lastExchange = `${line}: no answer`
    const answer = await ask(this.#deployment.addresses[to], request)
    this.lastExchange = `${line}: ${answer.status} ${answer.text.slice(0, 2000)}`
    return answer
  }

  /** Sends a request below the REST prefix: a POST if it has a body. */
  rest(path: string, { by = this.main, body, headers = [], ...request }: RestRequest = {}): Promise<Answer> {
    const text = typeof body === 'string' || Buffer.isBuffer(body) || body === undefined ? body : JSON.stringify(body)
    const headerNames = new Set(headers.map(([name]) => name.toLowerCase()))
    const added: [string, string][] = [
      ...(by === null || headerNames.has('authorization') ? [] : [['AUTHORIZATION', by.key] as [string, string]]),
      ...(text === undefined || headerNames.has('content-type')
        ? []
        : [['Content-Type', 'application/json'] as [string, string]]),
    ]
    const method = text === undefined ? 'GET' : 'POST'
    return this.raw('rest', {
      method,
      ...request,
      target: `/api/rest/v1${path}`,
      headers: [...added, ...headers],
      body: text,
    })
  }

  /** Sends a GET to the query-string interface with these parameters, encoded as UTF-8, after the key. */
  asp(path: string, parameters: Readonly<Record<string, string>> = {}, by: Keyed = this.main): Promise<Answer> {
    const pairs = Object.entries({ apikey: by.key, ...parameters })
    return this.query(path, pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&'))
  }

  /** Sends a GET with a query exactly as written. */
  query(path: string, query: string, request: Omit<Request, 'target'> = {}): Promise<Answer> {
    return this.raw('asp', { ...request, target: `/api/${path}${query === '' ? '' : `?${query}`}` })
  }

  /** Sends a POST of a document, with the key first in its root. */
  xml(path: string, root: string, content: string, by: Keyed = this.main): Promise<Answer> {
    return this.document(path, `<${root}><ApiKey>${by.key}</ApiKey><User/><Password/>${content}</${root}>`)
  }

  /** Sends a POST of a body as it is. */
  document(path: string, body: string | Buffer, contentType = 'text/xml'): Promise<Answer> {
    const headers: [string, string][] = contentType === '' ? [] : [['Content-Type', contentType]]
    return this.raw('xml', { method: 'POST', target: `/api/${path}`, headers, body })
  }

  async bringReply(reply: Reply): Promise<void> {
    await this.configured(this.#deployment.bringReply, 'replies')(reply)
  }

  /** Registers work for the end of the case, whatever its result. */
  afterwards(work: () => Promise<void>): void {
    this.#afterwards.push(work)
  }

  /** Deletes scheduled messages at the end of the case. */
  leave(by: Keyed, ids: readonly number[]): void {
    this.#scheduled.push(...ids.map((id) => ({ by, id })))
  }

  /** Deletes scheduled messages of the case and runs the work registered with `afterwards`. */
  async cleanUp(): Promise<void> {
    for (const work of this.#afterwards) await work()
    const accounts = new Set(this.#scheduled.map(({ by }) => by))
    for (const by of accounts) {
      const ids = this.#scheduled.filter((scheduled) => scheduled.by === by).map(({ id }) => id)
      for (let at = 0; at < ids.length; at += 1000)
        await this.rest('/sms/scheduled/delete', { by, body: ids.slice(at, at + 1000) })
    }
  }
}

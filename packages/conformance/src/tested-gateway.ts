import type { Configuration } from './configuration.ts'
import { ask, type Request, type Answer } from './http.ts'

export type Interface = 'rest' | 'asp' | 'xml'
export type Addresses = Readonly<Record<Interface, URL>>

type Accounts = Configuration['accounts']
export interface Keyed {
  readonly id: number
  readonly key: string
}

/** A reply that somebody writes. */
export interface Reply {
  readonly from: string
  readonly to: string
  readonly text: string
}

export interface Deployment {
  readonly addresses: Addresses
  readonly configuration: Configuration
  /** Makes a reply arrive; undefined where the configuration has no command for it. */
  readonly bringReply: ((reply: Reply) => Promise<void>) | undefined
  /** A number of `numbers.delivered` that no other case gets. */
  readonly ownNumber: () => string
}

/** Message of the error of `ownNumber` where none is left. */
export const numbersUsedUp = 'numbers.delivered has too few numbers'

/** Thrown by a case for which the configuration names too little. */
export class NotTestable extends Error {}

type RestRequest = Omit<Request, 'target' | 'body'> & {
  /** Whose key is sent, by default the main account's; null: none. */
  readonly as?: Request['as']
  readonly by?: Keyed | null
  /** Anything but text and bytes is sent as JSON. */
  readonly body?: unknown
}

/** A gateway as one case sees it: its interfaces, and what the case left behind. */
export class TestedGateway {
  readonly configuration: Configuration
  readonly main: Accounts['main']
  readonly sub: Accounts['sub']
  readonly otherSub: Accounts['otherSub']
  readonly stranger: Accounts['stranger']
  /** The last request and its answer, for the report of a failure. */
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

  /** An account that the configuration may leave out. */
  account<Name extends keyof Accounts>(name: Name): NonNullable<Accounts[Name]> {
    return this.configured(this.configuration.accounts[name], `accounts.${name}`)
  }

  /** A value that the configuration may leave out. */
  configured<Value>(value: Value, name: string): NonNullable<Value> {
    if (value === undefined || value === null) throw new NotTestable(`the configuration has no ${name}`)
    return value
  }

  /** A number whose messages are delivered, which other cases use too. */
  get number(): string {
    return this.configuration.numbers.delivered[0] ?? ''
  }

  /** A number whose messages are delivered, and which no other case writes to. */
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

  /** A request below the REST prefix: a POST if it has a body. */
  rest(path: string, { by = this.main, body, headers = [], ...request }: RestRequest = {}): Promise<Answer> {
    const text = typeof body === 'string' || Buffer.isBuffer(body) || body === undefined ? body : JSON.stringify(body)
    const given = new Set(headers.map(([name]) => name.toLowerCase()))
    const added: [string, string][] = [
      ...(by === null || given.has('authorization') ? [] : [['AUTHORIZATION', by.key] as [string, string]]),
      ...(text === undefined || given.has('content-type')
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

  /** A GET of the query-string interface with these parameters, encoded as UTF-8, after the key. */
  asp(path: string, parameters: Readonly<Record<string, string>> = {}, by: Keyed = this.main): Promise<Answer> {
    const pairs = Object.entries({ apikey: by.key, ...parameters })
    return this.query(path, pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&'))
  }

  /** The same with a query as it is written. */
  query(path: string, query: string, request: Omit<Request, 'target'> = {}): Promise<Answer> {
    return this.raw('asp', { ...request, target: `/api/${path}${query === '' ? '' : `?${query}`}` })
  }

  /** A POST of a document, with the key first in its root. */
  xml(path: string, root: string, content: string, by: Keyed = this.main): Promise<Answer> {
    return this.document(path, `<${root}><ApiKey>${by.key}</ApiKey><User/><Password/>${content}</${root}>`)
  }

  /** A POST of a body as it is. */
  document(path: string, body: string | Buffer, contentType = 'text/xml'): Promise<Answer> {
    const headers: [string, string][] = contentType === '' ? [] : [['Content-Type', contentType]]
    return this.raw('xml', { method: 'POST', target: `/api/${path}`, headers, body })
  }

  async bringReply(reply: Reply): Promise<void> {
    await this.configured(this.#deployment.bringReply, 'replies')(reply)
  }

  /** Does something when the case has ended, whatever came of it. */
  afterwards(work: () => Promise<void>): void {
    this.#afterwards.push(work)
  }

  /** Has scheduled messages deleted when the case has ended. */
  leave(by: Keyed, ids: readonly number[]): void {
    this.#scheduled.push(...ids.map((id) => ({ by, id })))
  }

  /** Deletes what the case has scheduled and not deleted, and does what it wanted done afterwards. */
  async cleanUp(): Promise<void> {
    for (const work of this.#afterwards) await work()
    const accounts = new Set(this.#scheduled.map(({ by }) => by))
    for (const by of accounts) {
      const ids = this.#scheduled.filter((left) => left.by === by).map(({ id }) => id)
      for (let at = 0; at < ids.length; at += 1000)
        await this.rest('/sms/scheduled/delete', { by, body: ids.slice(at, at + 1000) })
    }
  }
}

import type { IncomingHttpHeaders } from 'node:http'

/** Request as it arrived, with its path and query. */
export interface ProviderRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Message that a client wants to send. */
export interface SubmittedMessage {
  /** Digits of the recipient's number. */
  readonly to: string
  readonly from: string
  readonly text: string
  /** The client's own id of the message. */
  readonly ownId?: string | undefined
  /** True if the client asks for UCS-2, in which a part has room for fewer characters. */
  readonly isUnicode?: boolean | undefined
  /** URL to which receipts are sent. Undefined if the provider's requests cannot contain one. */
  readonly callback?: string | undefined
}

/** Message that the provider has accepted. */
export interface ProviderMessage extends SubmittedMessage {
  /** The provider's id of the message. */
  readonly id: string
  /** Values of the secrets that the request carried, by name. */
  readonly credentials: Secrets
}

export interface ProviderAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

/** Call of the client by the provider. */
export interface ProviderCallback {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** State that a receipt reports. */
export type ReportedState = 'delivered' | 'undelivered' | 'expired' | 'rejected'

/** Message that a person sends to the provider. */
export interface ProviderReply {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly text: string
}

/** Why a message is not accepted. `throttled` means that the client should try again later. */
export type ProviderRefusal = 'invalid-number' | 'opted-out' | 'throttled' | 'no-credit' | 'unauthorized' | 'malformed'

export type Secrets = Readonly<Record<string, string>>

/** Wire format of one provider, from its documentation. */
export interface ProviderFormat {
  /** Secrets that sign callbacks, with the values that count unless others are configured. */
  readonly secrets: Secrets
  /** Returns true if the provider serves this path and method. */
  serves(request: ProviderRequest): boolean
  /** Returns the values of the secrets that the request carries; undefined if it carries none. */
  credentials(request: ProviderRequest): Secrets | undefined
  /** Reads a message. Returns undefined if a required field is missing. Throws for a body that cannot be parsed. */
  read(request: ProviderRequest): SubmittedMessage | undefined
  accepted(message: ProviderMessage): ProviderAnswer
  refused(refusal: ProviderRefusal, message: SubmittedMessage | undefined): ProviderAnswer
  /**
   * Returns the answer to a repetition of an accepted message under the same own id. If undefined, the provider does
   * not recognize repetitions.
   */
  readonly repeated?: (message: ProviderMessage) => ProviderAnswer
  receipt(message: ProviderMessage, state: ReportedState, url: string): ProviderCallback
  /**
   * Returns the parts of a long text, each with an id of its own, if the provider sends receipts for each part. If
   * undefined, it sends receipts for the whole message.
   */
  readonly partsOf?: (message: ProviderMessage) => readonly ProviderMessage[]
  reply(reply: ProviderReply, url: string): ProviderCallback
  /** Adds the signature. If undefined, callbacks are recognized by the secrets in their URL. */
  readonly sign?: (callback: ProviderCallback, secrets: Secrets, now: number) => ProviderCallback
}

export const formType = 'application/x-www-form-urlencoded'
export const jsonType = 'application/json'

export const jsonAnswer = (
  status: number,
  value: unknown,
  headers: ProviderAnswer['headers'] = {},
): ProviderAnswer => ({
  status,
  headers: { 'content-type': jsonType, ...headers },
  body: JSON.stringify(value),
})

export const formCallback = (url: string, fields: Readonly<Record<string, string>>): ProviderCallback => ({
  method: 'POST',
  url,
  headers: { 'content-type': formType },
  body: new URLSearchParams(fields).toString(),
})

export const jsonCallback = (url: string, value: unknown): ProviderCallback => ({
  method: 'POST',
  url,
  headers: { 'content-type': jsonType },
  body: JSON.stringify(value),
})

export const withHeaders = (callback: ProviderCallback, headers: ProviderCallback['headers']): ProviderCallback => ({
  ...callback,
  headers: { ...callback.headers, ...headers },
})

export const digitsOf = (number: string): string => number.replaceAll(/\D/g, '')

/** Returns a secret by its name. Throws an Error if neither a request nor an option has named it. */
export function secretOf(secrets: Secrets, name: string): string {
  const value = secrets[name]
  if (value === undefined)
    throw new Error(`The secret ${name} is not known: use --secret ${name}=…, or send a message first.`)
  return value
}

/** Returns user and password of HTTP's basic authentication under the names of two secrets. */
export function basicCredentials({ headers }: ProviderRequest, user: string, password: string): Secrets | undefined {
  const [, encoded] = /^Basic (\S+)$/i.exec(headers.authorization ?? '') ?? []
  if (encoded === undefined) return undefined
  const decoded = Buffer.from(encoded, 'base64').toString('utf8')
  const at = decoded.indexOf(':')
  return at < 0 ? undefined : { [user]: decoded.slice(0, at), [password]: decoded.slice(at + 1) }
}

/** Returns the value of a header after a scheme such as `Bearer`, under the name of a secret. */
export function headerCredentials(
  { headers }: ProviderRequest,
  name: string,
  scheme: string,
  secret: string,
): Secrets | undefined {
  const value = headers[name]
  const prefix = scheme === '' ? '' : `${scheme} `
  return typeof value === 'string' && value.startsWith(prefix) && value.length > prefix.length
    ? { [secret]: value.slice(prefix.length) }
    : undefined
}

/** Returns the fields of a form. */
export const formOf = ({ body }: ProviderRequest): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(new URLSearchParams(body))

/** Returns the document of a JSON body, whose members may be missing. Throws if it is not an object. */
export function jsonOf({ body }: ProviderRequest): Readonly<Record<string, unknown>> {
  const document: unknown = JSON.parse(body)
  if (typeof document !== 'object' || document === null) throw new Error('the body is not an object')
  return document as Record<string, unknown>
}

/** Returns a member of nested objects and lists; undefined if one of them is missing. */
export function memberOf(value: unknown, ...path: readonly (string | number)[]): unknown {
  let current = value
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return undefined
    current = (current as Record<string | number, unknown>)[key]
  }
  return current
}

/** Returns a message if it has a recipient and a text. */
export function messageOf(fields: {
  readonly to: unknown
  readonly text: unknown
  readonly from?: unknown
  readonly ownId?: unknown
  readonly callback?: unknown
}): SubmittedMessage | undefined {
  const { to, text, from, ownId, callback } = fields
  if (typeof to !== 'string' || to === '' || typeof text !== 'string' || text === '') return undefined
  const textOrNone = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
  return {
    ...{ to: digitsOf(to), text, from: textOrNone(from) ?? '' },
    ...{ ownId: textOrNone(ownId), callback: textOrNone(callback) },
  }
}

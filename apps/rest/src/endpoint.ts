import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Gateway } from '@gateway/core'
import type { Account } from '@gateway/core/accounts'
import type { Clock } from '@gateway/core/time'
import {
  type AdmissionGate,
  type BodyPlace,
  clientNetwork,
  comesFrom,
  mediaType,
  type ParsedBody,
  readBody,
  requestQuery,
  withPlace,
  withRoom,
} from '@gateway/server'
import { noSuchRestPath } from '@gateway/wire'
import { type Answer, failure, type Failure, isFailure, lengthOf, overLimit, overloaded } from './answer.ts'
import type { ErrorCode } from './error-codes.ts'
import { short } from './request.ts'
import { type Call, type Endpoint, type Method, type Sent } from './operation.ts'
import { jsonNesting, nestingMax } from './read-json.ts'

export const noJson = failure('not-json', 'The body is not valid JSON.')
const tooDeep = failure('wrong-body', `The body must not be nested more than ${nestingMax} deep.`)

export const noSuchPath = failure('no-such-path', noSuchRestPath)

export const missingKey = unauthorized('missing-key', 'The AUTHORIZATION header is missing.')
const invalidKey = unauthorized('invalid-key', 'The API key is not valid.')

function unauthorized(code: ErrorCode, errorMessage: string): Failure {
  return failure(code, errorMessage, { 'WWW-Authenticate': 'Bearer' })
}

/** Returns the failure for a wrong method. `required` lists the methods of the path and is not empty. */
export function wrongMethod(required: readonly Method[], used = ''): Failure {
  const allowed = required.join(', ')
  const methods = required.length === 1 ? `the method ${allowed}` : `one of the methods ${allowed}`
  return failure('wrong-method', `This path requires ${methods}; the request used ${used}.`, { Allow: allowed })
}

/** Dependencies of the endpoints, apart from the log. */
export interface Backing {
  readonly gateway: Gateway
  readonly clock: Clock
  /** Limits the requests in progress. Several interfaces in one process may share one gate. */
  readonly gate: AdmissionGate
}

/**
 * Returns a function that checks a request in the order of ruling 2.3 and then runs its endpoint. It resolves to
 * undefined if the client has disconnected. A request occupies a place of the gate while it is processed, but not while
 * its body arrives (P-12, P-13). Places are shared fairly between networks, and between accounts once they are known.
 */
export const endpointRunner = (backing: Backing) => {
  const { gateway, gate } = backing
  return async (
    endpoints: readonly Endpoint[],
    request: IncomingMessage,
    response: ServerResponse,
    parameter?: string,
  ): Promise<Answer | undefined> => {
    const { method } = request
    const endpoint = endpoints.find((each) => each.method === method)
    if (endpoint === undefined) return wrongMethod(methodsOf(endpoints), method)

    const entered = gate.enter(() => clientNetwork(request))
    const account = await withPlace(entered, true, () => authenticate(gateway, request))
    if (account === undefined) return overloaded
    if (isFailure(account)) return account
    const authenticated = { endpoint, request, response, account, parameter }
    return endpoint.operation.body === undefined
      ? runFor(backing, authenticated, requestQuery(request))
      : runWithBody(backing, authenticated)
  }
}

export const methodsOf = (endpoints: readonly Endpoint[]): readonly Method[] => endpoints.map(({ method }) => method)

/** Request whose key was accepted. */
interface AuthenticatedRequest {
  readonly endpoint: Endpoint
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly account: Account
  readonly parameter: string | undefined
}

async function runWithBody(backing: Backing, authenticated: AuthenticatedRequest): Promise<Answer | undefined> {
  const { endpoint, request, account } = authenticated
  const place = backing.gate.bodies.open(String(account.id))
  try {
    const sent = await readJson(request, place, endpoint.whenEmpty)
    if (sent === undefined || (typeof sent === 'object' && isFailure(sent))) return sent
    return await runFor(backing, authenticated, sent)
  } finally {
    place.release()
  }
}

/**
 * Maximum length of a body that is parsed at once, in characters. A longer body is parsed in the account's turn. A send
 * of 1000 numbers has about 15,000 characters.
 */
const ordinaryLength = 65_536

async function runFor(
  { gateway, clock, gate }: Backing,
  { endpoint, request, response, account, parameter }: AuthenticatedRequest,
  sent: string | ParsedBody,
): Promise<Answer> {
  const idempotencyKey = idempotencyKeyOf(request)
  const owner = String(account.id)
  const inTurn: Call['inTurn'] = (piece) => gate.slices.run(owner, piece)
  const run = () => {
    const read = parsed(endpoint, sent)
    return isFailure(read)
      ? read
      : endpoint.run({ gateway, account, now: clock.now(), idempotencyKey, inTurn, parameter }, read)
  }
  const room = () => ({ response, place: gate.bodies.open(owner), bytes: endpoint.answerBytes, lengthOf })
  // Parsing 200 kB takes 1 ms. Sixty such bodies in one turn of the event loop would delay all other requests.
  const isLarge = typeof sent === 'string' && sent.length > ordinaryLength
  const begin = isLarge ? async () => gate.slices.run(owner, run) : run
  const work = endpoint.reads ? () => withRoom(room(), begin) : begin
  const size = endpoint.workOf?.(sent) ?? 1
  const entered = endpoint.slow ? gate.enterSlow(owner, size) : gate.enter(owner, size, endpoint.reads)
  return (await withPlace(entered, endpoint.reads, work)) ?? overloaded
}

/** Returns the input for the endpoint, or the refusal of a body that is not valid JSON. */
function parsed({ parse }: Endpoint, sent: string | ParsedBody): Sent | Failure {
  if (typeof sent !== 'string') return { text: undefined, body: sent.parsed }
  if (parse === undefined) return { text: sent }
  const nesting = jsonNesting(sent)
  if (nesting === 'too-deep') return tooDeep
  if (nesting === 'malformed') return noJson
  try {
    return { text: sent, body: parse(sent) }
  } catch {
    return noJson
  }
}

async function authenticate(gateway: Gateway, request: IncomingMessage): Promise<Account | Failure> {
  const apiKey = keyOf(request)
  if (apiKey === undefined) return missingKey
  if (apiKey === 'conflicting') return invalidKey
  // The network matters only for failed log-ins with passwords (ruling 1.26), which this interface does not accept.
  const account = await gateway.commands.authenticate({ apiKey, network: '', comesFrom: comesFrom(request) })
  if (account === 'wrong-credentials') return invalidKey
  // Keys never lead to these results. The check satisfies the type.
  if (account === 'overloaded' || 'retryAfterSeconds' in account) return overloaded
  return 'id' in account ? account : overLimit(account)
}

/** Maximum size of a body: 200kb (spec 7.1). A body of exactly this size is accepted (ruling 2.3). */
const bodyBytesMax = 204_800

/**
 * Returns the key in an `AUTHORIZATION` header: its only word, or the one after a prefix word (ruling 2.2). Returns
 * undefined if there is no header or an empty one, and 'conflicting' for several headers with different values.
 */
function keyOf(request: IncomingMessage): string | undefined {
  const header = request.headers.authorization?.trim()
  if (hasOtherAuthorization(request.rawHeaders, header)) return 'conflicting'
  if (header === undefined || header === '') return undefined
  const space = header.indexOf(' ')
  return space === -1 ? header : header.slice(space + 1).trimStart()
}

/**
 * True if the request has another `Authorization` header with a different value. Node keeps only the first one in
 * `headers`.
 */
function hasOtherAuthorization(rawHeaders: readonly string[], first: string | undefined): boolean {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length !== 13 || name.toLowerCase() !== 'authorization') continue
    if (rawHeaders[i + 1]?.trim() !== first) return true
  }
  return false
}

/**
 * Returns the body of a request as text, or the parsed body if the surrounding app has parsed it. Returns `whenEmpty`
 * for an empty body if `whenEmpty` is given. If several failures apply, returns the first in the order of ruling 2.3.
 * Returns undefined if the client has disconnected.
 */
async function readJson(
  request: IncomingMessage,
  place: BodyPlace,
  whenEmpty?: string,
): Promise<string | ParsedBody | Failure | undefined> {
  const body = await readBody(request, bodyBytesMax, place)
  if (body === 'aborted') return undefined
  if (body === 'overloaded') return overloaded
  if (body === 'too-large') return tooLarge
  if (whenEmpty !== undefined && 'length' in body && body.length === 0) return whenEmpty
  if (mediaType(request) !== 'application/json') return wrongType(request.headers['content-type'])
  if (request.headers['content-encoding'] !== undefined)
    return failure(
      'encoded-body',
      `The body must not have a content encoding; got ${short(request.headers['content-encoding'])}.`,
    )
  if ('parsed' in body) return body
  return isUtf8(body)
    ? withoutMark(body.toString())
    : failure('not-json', 'The body is not valid JSON: it is not UTF-8.')
}

export const tooLarge = failure('body-too-large', `The body is larger than ${bodyBytesMax} bytes.`)

export const wrongType = (contentType: string | undefined): Failure =>
  failure(
    'wrong-content-type',
    `The content type must be application/json; got ${contentType ? short(contentType) : 'none'}.`,
  )

// Some platforms write a byte order mark before every UTF-8 text.
const withoutMark = (text: string): string => (text.startsWith('\uFEFF') ? text.slice(1) : text)

/**
 * Returns the first `Idempotency-Key` header. Decodes UTF-8 bytes, so that a key in the header equals the same key in a
 * body.
 */
function idempotencyKeyOf(request: IncomingMessage): string | undefined {
  if (request.headers[name] === undefined) return undefined
  const first = firstOf(request.rawHeaders)
  if (/^[\x20-\x7e]*$/.test(first)) return first
  const bytes = Buffer.from(first, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : first
}

/**
 * Returns the value of the first header with this name. `headersDistinct` would take 1 µs to build an object of all
 * headers.
 */
function firstOf(rawHeaders: readonly string[]): string {
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === name.length && rawHeaders[i]?.toLowerCase() === name) return rawHeaders[i + 1] ?? ''
  return ''
}

const name = 'idempotency-key'

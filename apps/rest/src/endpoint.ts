import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Account, Clock, Gateway, Instant } from '@gateway/core'
import {
  type AdmissionGate,
  clientNetwork,
  comesFrom,
  type ParsedBody,
  requestQuery,
  withPlace,
  withRoom,
} from '@gateway/server'
import { type Answer, failure, type Failure, isFailure, lengthOf, overLimit, overloaded } from './answer.ts'
import type { ErrorCode } from './error-codes.ts'
import type { Operation } from './operation.ts'
import { jsonNesting, nestingMax } from './read-json.ts'
import { idempotencyKeyOf, keyOf, readJson } from './request.ts'

/** What every endpoint gets, beside its input. */
export interface Call {
  readonly gateway: Gateway
  readonly account: Account
  readonly now: Instant
  /** The `Idempotency-Key` header (ruling 1.24). */
  readonly idempotencyKey: string | undefined
  /** Does a piece of long work in the account's turn: a piece takes a millisecond or so. */
  readonly inTurn: <Made>(piece: () => Made) => Made | Promise<Made>
  /** The digits in the place of `{id}` of the path; undefined: it has none. */
  readonly parameter: string | undefined
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** One operation, with its input already bound: `run` reads it and answers it. */
export interface Endpoint {
  readonly method: Method
  readonly operation: Operation
  /** Whether it only reads: then a failure is certain to have done nothing. */
  readonly reads: boolean
  /** Whether it works on one of the few ordinary connections to the database, for whose turn it waits. */
  readonly slow: boolean
  /** So many bytes are to be free for its answer before anything is read. */
  readonly answerBytes: number
  /** How many recipients, ids or items a body or query is for, told before it is read; 1 if not given. */
  readonly workOf?: ((sent: string | ParsedBody) => number) | undefined
  /** What is read where a request has no body; undefined: it must have one. */
  readonly whenEmpty?: string | undefined
  /** `sent`: the body where the operation has one, which may have been parsed before it came to us; else the query. */
  readonly run: (call: Call, sent: string | ParsedBody) => Answer | Promise<Answer>
}

type AnswerTo<Input> = (call: Call, input: Input) => Answer | Promise<Answer>

/**
 * A GET: a list or a look-up. `read` gives the input, or what is wrong with the query (422). The settings are those of
 * `Endpoint`.
 */
export const get = <Input extends object>(
  operation: Operation,
  read: (query: string) => Input | Failure,
  answer: AnswerTo<Input>,
  { answerBytes = 0, workOf }: Partial<Pick<Endpoint, 'answerBytes' | 'workOf'>> = {},
): Endpoint => ({
  method: 'GET',
  operation,
  reads: true,
  slow: true,
  answerBytes,
  workOf,
  run: (call, query) => {
    const input = read(typeof query === 'string' ? query : '')
    return isFailure(input) ? input : answer(call, input)
  },
})

/** The input of a request that has none. */
export const nothing = (): object => ({})

/** A DELETE, which has neither a query nor a body. */
export const remove = (operation: Operation, answer: AnswerTo<object>): Endpoint => ({
  method: 'DELETE',
  operation,
  reads: false,
  slow: true,
  answerBytes: 0,
  run: (call) => answer(call, {}),
})

/**
 * A POST, or a PATCH. `read` gets the body as `parse` gives it, and its text unless another has parsed it, and gives
 * the input, or what is wrong with it (422). `parse` throws where JSON.parse does.
 */
export const post = <Input extends object>(
  operation: Operation,
  read: (body: unknown, text: string | undefined) => Input | Failure,
  answer: AnswerTo<Input>,
  { method = 'POST', reads = false, slow = false, parse = JSON.parse, whenEmpty, workOf }: PostSettings = {},
): Endpoint => ({
  method,
  operation,
  reads,
  slow,
  answerBytes: 0,
  workOf,
  whenEmpty,
  run: (call, sent) => {
    const text = typeof sent === 'string' ? sent : undefined
    const body = typeof sent === 'string' ? parseJson(sent, parse) : sent
    if (isFailure(body)) return body
    const input = read(body.parsed, text)
    return isFailure(input) ? input : answer(call, input)
  },
})

interface PostSettings extends Pick<Endpoint, 'workOf'> {
  readonly method?: 'POST' | 'PATCH'
  readonly reads?: boolean
  readonly slow?: boolean
  readonly parse?: (json: string) => unknown
  readonly whenEmpty?: string
}

function parseJson(json: string, parse: (json: string) => unknown): ParsedBody | Failure {
  const nesting = jsonNesting(json)
  if (nesting === 'too-deep') return tooDeep
  if (nesting === 'malformed') return noJson
  try {
    return { parsed: parse(json) }
  } catch {
    return noJson
  }
}

export const noJson = failure('not-json', 'The body is not valid JSON.')
const tooDeep = failure('wrong-body', `The body must not be nested more than ${nestingMax} deep.`)

export const noSuchPath = failure('no-such-path', 'This path does not exist; spelling and letter case matter.')

export const missingKey = unauthorized('missing-key', 'The AUTHORIZATION header is missing.')
const invalidKey = unauthorized('invalid-key', 'The API key is not valid.')

function unauthorized(code: ErrorCode, errorMessage: string): Failure {
  return failure(code, errorMessage, { 'WWW-Authenticate': 'Bearer' })
}

/** `required`: the methods of the path, at least one. */
export function wrongMethod(required: readonly Method[], used = ''): Failure {
  const allowed = required.join(', ')
  const methods = required.length === 1 ? `the method ${allowed}` : `one of the methods ${allowed}`
  return failure('wrong-method', `This path requires ${methods}; the request used ${used}.`, { Allow: allowed })
}

/** What a server works with, beside its log. */
export interface Backing {
  readonly gateway: Gateway
  readonly clock: Clock
  /** How much this process works on at a time; several interfaces in one process may share one. */
  readonly gate: AdmissionGate
}

/**
 * Runs an endpoint after its checks, in the ruled order (ruling 2.3). Undefined: the client has disconnected. It holds
 * a place of the gate while it works, and none while a body arrives (P-12, P-13). Networks take turns, and accounts
 * once they are known.
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
    const asked = { endpoint, request, response, account, parameter }
    return endpoint.operation.body === undefined
      ? runFor(backing, asked, requestQuery(request))
      : runWithBody(backing, asked)
  }
}

export const methodsOf = (endpoints: readonly Endpoint[]): readonly Method[] => endpoints.map(({ method }) => method)

/** A request of an account. */
interface Asked {
  readonly endpoint: Endpoint
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly account: Account
  readonly parameter: string | undefined
}

async function runWithBody(backing: Backing, asked: Asked): Promise<Answer | undefined> {
  const { endpoint, request, account } = asked
  const place = backing.gate.bodies.open(String(account.id))
  try {
    const sent = await readJson(request, place, endpoint.whenEmpty)
    if (sent === undefined || (typeof sent === 'object' && isFailure(sent))) return sent
    return await runFor(backing, asked, sent)
  } finally {
    place.release()
  }
}

/** Of a body, in characters: a send of 1000 numbers has some 15,000. */
const ordinaryLength = 65_536

async function runFor(
  { gateway, clock, gate }: Backing,
  { endpoint, request, response, account, parameter }: Asked,
  sent: string | ParsedBody,
): Promise<Answer> {
  const idempotencyKey = idempotencyKeyOf(request)
  const owner = String(account.id)
  const inTurn: Call['inTurn'] = (piece) => gate.slices.run(owner, piece)
  const run = () => endpoint.run({ gateway, account, now: clock.now(), idempotencyKey, inTurn, parameter }, sent)
  const room = () => ({ response, place: gate.bodies.open(owner), bytes: endpoint.answerBytes, lengthOf })
  // The look at 200 kB takes 1 ms: sixty of them in one turn of the event loop would hold up everybody else.
  const isLarge = typeof sent === 'string' && sent.length > ordinaryLength
  const begin = isLarge ? async () => gate.slices.run(owner, run) : run
  const work = endpoint.reads ? () => withRoom(room(), begin) : begin
  const size = endpoint.workOf?.(sent) ?? 1
  const entered = endpoint.slow ? gate.enterSlow(owner, size) : gate.enter(owner, size, endpoint.reads)
  return (await withPlace(entered, endpoint.reads, work)) ?? overloaded
}

async function authenticate(gateway: Gateway, request: IncomingMessage): Promise<Account | Failure> {
  const apiKey = keyOf(request)
  if (apiKey === undefined) return missingKey
  // Networks count for failed log-ins by password (ruling 1.26), of which this interface has none.
  const account = await gateway.authenticate({ apiKey, network: '', comesFrom: comesFrom(request) })
  if (account === 'wrong-credentials') return invalidKey
  // Of a key neither is ever told.
  if (account === 'overloaded' || 'retryAfterSeconds' in account) return overloaded
  return 'id' in account ? account : overLimit(account)
}

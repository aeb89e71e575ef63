import type { IncomingMessage } from 'node:http'
import type { Gateway } from '@gateway/core'
import type { Account } from '@gateway/core/accounts'
import type { Clock, Instant } from '@gateway/core/time'
import {
  type AdmissionGate,
  afterPlace,
  clientAddress,
  clientNetwork,
  comesFrom,
  mediaType,
  readBody,
  requestQuery,
  withPlace,
} from '@gateway/server'
import { type Answer, bodyTooLarge, type Failure, overLimit, overloaded, tooManyLogIns, wrongMethod } from './answer.ts'
import { credentialsOf, formText, type Parameters, readParameters } from './parameters.ts'

/** What every endpoint gets. */
export interface Call {
  readonly gateway: Gateway
  readonly account: Account
  readonly parameters: Parameters
  readonly now: Instant
}

/** A parameter, as the page of the interface describes it. */
export interface Parameter {
  /** As the specification spells it; letter case does not count. */
  readonly name: string
  readonly form: string
  readonly needed?: boolean
}

export interface Endpoint {
  readonly summary: string
  /** Every parameter that `run` reads. */
  readonly takes: readonly Parameter[]
  /**
   * Every form of what it answers to right credentials; of a list, the forms of its items. What is in `<>` is described
   * by `FORMS`.
   */
  readonly answers: readonly string[]
  /** The whole answer to wrong credentials (ruling 3.3). */
  readonly wrongCredentials: string
  /** Whether it only reads: then a failure is certain to have done nothing. */
  readonly reads?: boolean
  /** Whether it works on one of the few ordinary connections to the database, for whose turn it waits. */
  readonly slow?: boolean
  /** How many numbers or ids it is for; 1 if not given. */
  readonly workOf?: (parameters: Parameters) => number
  readonly run: (call: Call) => Answer | Promise<Answer>
}

/** What a server works with, beside its log. */
export interface Backing {
  readonly gateway: Gateway
  readonly clock: Clock
  /** How much this process works on at a time; several interfaces in one process may share one. */
  readonly gate: AdmissionGate
}

/**
 * Runs an endpoint after its method and its credentials have been checked. Undefined: the client has disconnected. It
 * holds a place of the gate while it works, and none while a body arrives (P-12, P-13). Networks take turns, and
 * accounts once they are known.
 */
export const endpointRunner =
  (backing: Backing) =>
  async (endpoint: Endpoint, request: IncomingMessage): Promise<Answer | undefined> => {
    if (request.method !== 'GET' && request.method !== 'POST') return wrongMethod
    const form = request.method === 'POST' && isForm(request) ? await readForm(backing, request) : ''
    if (form === undefined || typeof form === 'object') return form
    const parameters = readParameters(requestQuery(request), form)

    const credentials = credentialsOf(parameters)
    const entered = backing.gate.enter(() => clientNetwork(request))
    const check = () => authenticate(backing, endpoint, credentials, request)
    // A pair may wait for its hash: that has a queue of its own.
    const account = await (credentials?.pair === undefined
      ? withPlace(entered, true, check)
      : afterPlace(entered, check))
    if (account === undefined) return overloaded
    return typeof account === 'object' && 'id' in account ? runFor(backing, endpoint, parameters, account) : account
  }

async function readForm({ gate }: Backing, request: IncomingMessage): Promise<string | Failure | undefined> {
  const place = gate.bodies.open(clientNetwork(request))
  try {
    const form = await readBody(request, formBytesMax, place)
    if (form === 'too-large') return bodyTooLarge
    if (form === 'overloaded') return overloaded
    return form === 'aborted' ? undefined : formText(form)
  } finally {
    place.release()
  }
}

/** The account, or the answer if there is none. */
async function authenticate(
  { gateway, gate }: Backing,
  endpoint: Endpoint,
  credentials: ReturnType<typeof credentialsOf>,
  request: IncomingMessage,
): Promise<Account | string | Failure> {
  if (credentials === undefined) return endpoint.wrongCredentials
  // Only guesses of passwords are counted by network (ruling 1.26).
  const network = credentials.pair === undefined ? '' : clientNetwork(request)
  const origin = { network, address: clientAddress(request), comesFrom: comesFrom(request) }
  const account = await gateway.authenticate({ ...credentials, ...origin })
  if (account === 'overloaded') {
    await gate.refusals.turn(network)
    return overloaded
  }
  if (account === 'wrong-credentials') return endpoint.wrongCredentials
  if ('id' in account) return account
  if ('overLimitSeconds' in account) return overLimit(account)
  await gate.refusals.turn(network)
  return tooManyLogIns(account.retryAfterSeconds)
}

async function runFor(
  { gateway, clock, gate }: Backing,
  endpoint: Endpoint,
  parameters: Parameters,
  account: Account,
): Promise<Answer> {
  const work = () => endpoint.run({ gateway, account, parameters, now: clock.now() })
  const owner = String(account.id)
  const size = endpoint.workOf?.(parameters) ?? 1
  const entered = endpoint.slow === true ? gate.enterSlow(owner, size) : gate.enter(owner, size, endpoint.reads)
  const answer = await withPlace(entered, endpoint.reads === true, work)
  return answer ?? overloaded
}

/** A form body may have 64 kB (ruling 3.1). */
const formBytesMax = 65_536

/** A body of another type is ignored (ruling 3.1), and so is one that is compressed. */
const isForm = (request: IncomingMessage): boolean =>
  mediaType(request) === 'application/x-www-form-urlencoded' && request.headers['content-encoding'] === undefined

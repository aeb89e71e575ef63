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

/** Input of every endpoint. */
export interface Call {
  readonly gateway: Gateway
  readonly account: Account
  readonly parameters: Parameters
  readonly now: Instant
}

/** Parameter, as documented on the page of the interface. */
export interface Parameter {
  /** Name as the specification spells it. Letter case does not matter. */
  readonly name: string
  readonly form: string
  readonly needed?: boolean
}

export interface Endpoint {
  readonly summary: string
  /** All parameters that `run` reads. */
  readonly takes: readonly Parameter[]
  /**
   * All forms of the answer to correct credentials; for a list, the forms of its items. `FORMS` explains the names in
   * `<>`.
   */
  readonly answers: readonly string[]
  /** Complete answer to wrong credentials (ruling 3.3). */
  readonly wrongCredentials: string
  /** True if the endpoint only reads, so that a failure has had no effect. */
  readonly reads?: boolean
  /** True if the endpoint needs one of the few ordinary database connections and waits for its turn. */
  readonly slow?: boolean
  /** Returns the number of recipients or ids of a request. 1 by default. */
  readonly workOf?: (parameters: Parameters) => number
  readonly run: (call: Call) => Answer | Promise<Answer>
}

/** Dependencies of the endpoints, apart from the log. */
export interface Backing {
  readonly gateway: Gateway
  readonly clock: Clock
  /** Limits the requests in progress. Several interfaces in one process may share one gate. */
  readonly gate: AdmissionGate
}

/**
 * Returns a function that checks method and credentials and then runs an endpoint. It resolves to undefined if the
 * client has disconnected. A request occupies a place of the gate while it is processed, but not while its body arrives
 * (P-12, P-13). Places are shared fairly between networks, and between accounts once they are known.
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
    // Checking a login and password may wait for the password hash, which has a queue of its own.
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

/** Returns the account, or the answer if the request has no valid credentials. */
async function authenticate(
  { gateway, gate }: Backing,
  endpoint: Endpoint,
  credentials: ReturnType<typeof credentialsOf>,
  request: IncomingMessage,
): Promise<Account | string | Failure> {
  if (credentials === undefined) return endpoint.wrongCredentials
  // Failed attempts are counted by network only if they use a password, not if they use a key (ruling 1.26).
  const network = credentials.pair === undefined ? '' : clientNetwork(request)
  const origin = { network, address: clientAddress(request), comesFrom: comesFrom(request) }
  const account = await gateway.commands.authenticate({ ...credentials, ...origin })
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

/** Maximum size of a form body, in bytes (ruling 3.1). */
const formBytesMax = 65_536

/** True if the body is a form. A body of another type or a compressed one is ignored (ruling 3.1). */
const isForm = (request: IncomingMessage): boolean =>
  mediaType(request) === 'application/x-www-form-urlencoded' && request.headers['content-encoding'] === undefined

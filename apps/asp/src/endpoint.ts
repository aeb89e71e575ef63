import type { IncomingMessage } from 'node:http'
import type { Account, Clock, Gateway, Instant } from '@gateway/core'
import { clientNetwork, mediaType, readBody, requestQuery, withoutEffect, type AdmissionGate } from '@gateway/server'
import { bodyTooLarge, errorText, failure, overloaded, wrongMethod, type Answer } from './answer.ts'
import { credentialsOf } from './credentials.ts'
import { formText, readParameters, type Parameters } from './parameters.ts'

/** What every endpoint gets. */
export interface Call {
  readonly gateway: Gateway
  readonly account: Account
  readonly parameters: Parameters
  readonly now: Instant
}

export interface Endpoint {
  /** The whole answer to wrong credentials (ruling 3.3). */
  readonly wrongCredentials: string
  /** Whether it only reads: then a failure is certain to have done nothing. */
  readonly reads?: boolean
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
 * Runs an endpoint after its method and its credentials have been checked. Undefined: the client has gone. It holds a place
 * of the gate while it works, and none while a body arrives: who sends slowly takes no place from others (P-12, P-13).
 */
export const endpointRunner =
  (backing: Backing) =>
  async (endpoint: Endpoint, request: IncomingMessage): Promise<Answer | undefined> => {
    if (request.method !== 'GET' && request.method !== 'POST') return wrongMethod
    const form = request.method === 'POST' && isForm(request) ? await readBody(request, formBytesMax) : undefined
    if (form === 'too-large') return bodyTooLarge
    if (form === 'aborted') return undefined
    const parameters = readParameters(requestQuery(request), form === undefined ? '' : formText(form))

    const leave = backing.gate.tryEnter()
    if (leave === undefined) return overloaded
    try {
      return await runFor(backing, endpoint, parameters, request)
    } finally {
      leave()
    }
  }

async function runFor(
  { gateway, clock }: Backing,
  endpoint: Endpoint,
  parameters: Parameters,
  request: IncomingMessage,
): Promise<Answer> {
  const credentials = credentialsOf(parameters)
  if (credentials === undefined) return endpoint.wrongCredentials
  // Only guesses of passwords are counted by network (ruling 1.26).
  const network = credentials.pair === undefined ? '' : clientNetwork(request)
  const account = await withoutEffect(() => gateway.authenticate({ ...credentials, network }))
  if (account === 'overloaded') return overloaded
  if (account === 'wrong-credentials') return endpoint.wrongCredentials
  if ('id' in account) {
    const work = () => endpoint.run({ gateway, account, parameters, now: clock.now() })
    return endpoint.reads ? withoutEffect(work) : work()
  }
  return failure(429, errorText('Too many failed log-ins'), { 'Retry-After': String(account.retryAfterSeconds) })
}

/** A form body may have 64 kB (ruling 3.1). */
const formBytesMax = 65_536

/** A body of another type is ignored (ruling 3.1), and so is one that is compressed. */
const isForm = (request: IncomingMessage): boolean =>
  mediaType(request) === 'application/x-www-form-urlencoded' && request.headers['content-encoding'] === undefined

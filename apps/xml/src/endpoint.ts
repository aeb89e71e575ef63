import type { ServerResponse } from 'node:http'
import type { Gateway } from '@gateway/core'
import type { Account } from '@gateway/core/accounts'
import type { InboxMessage, ConsumedMessages } from '@gateway/core/inbox'
import type { Clock, Instant } from '@gateway/core/time'
import { type AdmissionGate, type ArrivingBody, inSlices, withPlace, withRoom } from '@gateway/server'
import { type Answer, type Flaw, lengthOf, overloaded } from './answer.ts'
import { type Element, elements, readArriving } from './reading/read-document.ts'
import { document } from './rendered.ts'
import { credentialElements, credentialsDraft, type CredentialsDraft, type Origin, paceFor, signIn } from './sign-in.ts'

/** Context of an operation, in addition to its input. */
export interface Call {
  readonly gateway: Gateway
  readonly account: Account
  readonly now: Instant
}

/** One operation of the interface. `Draft` collects the elements of its request, `Input` is the checked result. */
export interface Operation<Draft, Input> {
  /** Root element of the request, without its prefix (ruling 4.2). */
  readonly request: `_${string}`
  /** Root element of the response. */
  readonly response: string
  readonly draft: () => Draft
  /** Elements in the root, without the credentials. */
  readonly inside: Readonly<Record<string, Element<Draft>>>
  /** Returns the input, or its first error in the order of ruling 4.10. */
  readonly check: (draft: Draft) => Input | Flaw
  /** True if the operation only reads, so that a failure has had no effect. */
  readonly reads?: boolean
  /** True if the operation needs one of the few ordinary database connections and waits for its turn. */
  readonly slow?: boolean
  /** Returns the memory, in bytes, that must be free for the response before the operation starts. */
  readonly answerBytes?: (input: Input) => number
  /** Returns the number of recipients or ids of a request. 1 by default. */
  readonly workOf?: (input: Input) => number
  readonly answer: (call: Call, input: Input) => Promise<Answer> | Answer
}

/** Request whose body may still be arriving. */
export interface Sent {
  readonly body: ArrivingBody
  readonly contentType: string | undefined
  readonly origin: Origin
  readonly response: ServerResponse
}

/** Gateway, clock and log that the endpoints use. */
export interface Backing {
  readonly gateway: Gateway
  readonly clock: Clock
  /** Bounds the requests in flight; several interfaces in one process may share one gate. */
  readonly gate: AdmissionGate
}

export interface Endpoint {
  /** Returns the response document with this content in its root. */
  readonly inRoot: (content: string) => string
  /**
   * Checks a request in the order of ruling 4.10 and carries it out. Resolves to undefined if the client has
   * disconnected.
   */
  readonly run: (backing: Backing, sent: Sent) => Promise<Answer | undefined>
}

export function endpoint<Draft extends object, Input extends object>(operation: Operation<Draft, Input>): Endpoint {
  const { request, response: answerRoot, inside, check, answer, reads, slow = false, answerBytes, workOf } = operation
  const root = { ending: request, inside: elements<CredentialsDraft & Draft>({ ...inside, ...credentialElements }) }
  return {
    inRoot: document(answerRoot),
    run: async (backing, { body, contentType, origin, response }) => {
      const { gateway, clock, gate } = backing
      const draft = { ...operation.draft(), ...credentialsDraft() }
      const sender = signIn(backing, draft, origin)
      const pace = paceFor(gate.slices, origin.network, sender)
      const read = await readArriving(body, contentType, { root, draft, pace })
      if (read === 'aborted') return undefined
      if (read === 'overloaded') return overloaded
      if (read !== 'valid') {
        if ((await sender.early()) === undefined) await gate.refusals.turn(origin.network)
        return { trouble: read }
      }

      const account = await sender.account()
      if ('trouble' in account) return account
      const input = check(draft)
      if (typeof input === 'string') return { trouble: input }
      const owner = String(account.id)
      const run = () => answer({ gateway, account, now: clock.now() }, input)
      const room = () => ({ response, place: gate.bodies.open(owner), bytes: answerBytes?.(input) ?? 0, lengthOf })
      const work = reads === true ? () => withRoom(room(), run) : run
      const size = workOf?.(input) ?? 1
      const entered = slow ? gate.enterSlow(owner, size) : gate.enter(owner, size, reads)
      return (await withPlace(entered, reads === true, work)) ?? overloaded
    },
  }
}

interface Taking extends Pick<Operation<object, object>, 'request' | 'response'> {
  readonly take: (gateway: Gateway, account: Account) => Promise<ConsumedMessages>
  readonly write: (message: InboxMessage) => string
}

/**
 * Returns the endpoint of a return-once call (ruling 1.20). The request has only credentials; the response has an empty
 * root if there is nothing to return (ruling 4.10).
 */
export const takingEndpoint = ({ request, response, take, write }: Taking): Endpoint =>
  endpoint<object, object>({
    request,
    response,
    draft: () => ({}),
    inside: {},
    check: (draft) => draft,
    answer: async ({ gateway, account }) => {
      const messages = await take(gateway, account)
      const content = (await inSlices(messages.messages, write)).join('')
      return content === '' ? { content } : { content, offerAgain: () => messages.offerAgain() }
    },
  })

import type { ServerResponse } from 'node:http'
import type { Gateway } from '@gateway/core'
import type { Account } from '@gateway/core/accounts'
import type { InboxMessage, TakenMessages } from '@gateway/core/inbox'
import type { Clock, Instant } from '@gateway/core/time'
import { type AdmissionGate, type ArrivingBody, inSlices, withPlace, withRoom } from '@gateway/server'
import { type Answer, type Flaw, lengthOf, overloaded } from './answer.ts'
import { type Element, elements, readArriving } from './reading/read-document.ts'
import { document } from './rendered.ts'
import { credentialElements, credentialsDraft, type CredentialsDraft, type Origin, paceFor, signIn } from './sign-in.ts'

/** What an operation gets in addition to its input. */
export interface Call {
  readonly gateway: Gateway
  readonly account: Account
  readonly now: Instant
}

/** One operation of the interface. `Draft` collects the elements of its request, `Input` is the checked result. */
export interface Operation<Draft, Input> {
  /** Root element of the request, without its prefix (ruling 4.2). */
  readonly request: `_${string}`
  /** Root element of the answer. */
  readonly response: string
  readonly draft: () => Draft
  /** The elements in the root, without the credentials. */
  readonly inside: Readonly<Record<string, Element<Draft>>>
  /** The input, or the first error in it (ruling 4.10 gives the order). */
  readonly check: (draft: Draft) => Input | Flaw
  /** Whether it only reads: then a failure has changed nothing. */
  readonly reads?: boolean
  /** Whether it works on one of the few ordinary connections to the database, for whose turn it waits. */
  readonly slow?: boolean
  /** So many bytes are to be free for its answer before anything is read. */
  readonly answerBytes?: (input: Input) => number
  /** How many numbers or ids it is for; 1 if not given. */
  readonly workOf?: (input: Input) => number
  readonly answer: (call: Call, input: Input) => Promise<Answer> | Answer
}

/** A request as it comes. */
export interface Sent {
  readonly body: ArrivingBody
  readonly contentType: string | undefined
  readonly origin: Origin
  readonly response: ServerResponse
}

/** What an endpoint works with. */
export interface Backing {
  readonly gateway: Gateway
  readonly clock: Clock
  /** Bounds the requests in flight; several interfaces in one process may share one gate. */
  readonly gate: AdmissionGate
}

export interface Endpoint {
  /** The answer document with this content in its root. */
  readonly inRoot: (content: string) => string
  /** Checks a request in the ruled order (ruling 4.10), and does what it asks for. Undefined: the client has gone. */
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
  readonly take: (gateway: Gateway, account: Account) => Promise<TakenMessages>
  readonly write: (message: InboxMessage) => string
}

/** A return-once call (ruling 1.20): a request of credentials only; an empty root if there is nothing (ruling 4.10). */
export const takingEndpoint = ({ request, response, take, write }: Taking): Endpoint =>
  endpoint<object, object>({
    request,
    response,
    draft: () => ({}),
    inside: {},
    check: (draft) => draft,
    answer: async ({ gateway, account }) => {
      const taken = await take(gateway, account)
      const content = (await inSlices(taken.messages, write)).join('')
      return content === '' ? { content } : { content, offerAgain: () => taken.offerAgain() }
    },
  })

import type { Account, Clock, Gateway, Instant } from '@gateway/core'
import { withoutEffect } from '@gateway/server'
import { overloaded, type Answer, type Failure } from './answer.ts'
import { credentialElements, credentialsDraft, credentialsOf, type CredentialsDraft } from './credentials.ts'
import { decodeDocument } from './reading/decode-document.ts'
import { elements, type Element } from './reading/element.ts'
import { readDocument } from './reading/read-document.ts'
import type { Flaw } from './words.ts'
import { document } from './writing/rendered.ts'

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
  readonly answer: (call: Call, input: Input) => Promise<Answer> | Answer
}

/** A request as received. */
export interface Sent {
  readonly body: Buffer
  readonly contentType: string | undefined
  /** As `Credentials.network`. */
  readonly network: string
}

export interface Endpoint {
  /** The answer document with this content in its root. */
  readonly inRoot: (content: string) => string
  /** Checks a request in the order of ruling 4.10 and executes it. */
  readonly run: (by: { readonly gateway: Gateway; readonly clock: Clock }, sent: Sent) => Promise<Answer>
}

export function endpoint<Draft extends object, Input extends object>(operation: Operation<Draft, Input>): Endpoint {
  const { request, response, inside, check, answer, reads } = operation
  const root = { ending: request, inside: elements<CredentialsDraft & Draft>({ ...inside, ...credentialElements }) }
  return {
    inRoot: document(response),
    run: async ({ gateway, clock }, { body, contentType, network }) => {
      const draft = { ...operation.draft(), ...credentialsDraft() }
      const text = decodeDocument(body, contentType)
      if (text === undefined || !(await readDocument(text, root, draft))) return { trouble: 'not-valid' }

      const account = await withoutEffect(() => authenticate(gateway, draft, network))
      if ('trouble' in account) return account
      const input = check(draft)
      if (typeof input === 'string') return { trouble: input }
      const work = () => answer({ gateway, account, now: clock.now() }, input)
      return reads ? withoutEffect(work) : work()
    },
  }
}

async function authenticate(gateway: Gateway, draft: CredentialsDraft, network: string): Promise<Account | Failure> {
  const credentials = credentialsOf(draft, network)
  const account = credentials === undefined ? 'wrong-credentials' : await gateway.authenticate(credentials)
  if (account === 'wrong-credentials') return { trouble: 'wrong-credentials' }
  if (account === 'overloaded') return overloaded
  return 'id' in account ? account : { trouble: 'too-many-failures', retryAfterSeconds: account.retryAfterSeconds }
}

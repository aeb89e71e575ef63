import type { AccountId } from '../account/account.ts'
import type { Credits } from '../credits/credits.ts'
import type { IdempotencyKey } from './idempotency-key.ts'

/** A send or a transfer that its client may ask for again. Keys of two accounts have nothing to do with each other. */
export interface ClientRequest {
  readonly account: AccountId
  readonly key: IdempotencyKey
  /** What is asked for, in its only form: two requests are the same if this is. */
  readonly asked: string
}

/** What a request was answered first, and is answered whenever it comes again. */
export interface FirstAnswer {
  /** As the use case reads it. */
  readonly text: string
  /** Of a send: the balance right after it. */
  readonly balance?: Credits | undefined
}

/** For so long a first answer is kept (ruling 1.24): 48 hours. */
export const firstAnswerSeconds = 48 * 3600

/**
 * The first answers to requests with a key (ruling 1.24). What accepts messages and moves credits keeps its answer itself, in the step
 * that does it (`Messages`, `Ledger`). Answers that no longer count are dropped with the history (`History`).
 */
export interface ClientRequests {
  /** The answer that is kept under its key. Another request: it was to a request that asked for something else. */
  find(request: ClientRequest): Promise<FirstAnswer | 'another-request' | undefined>
  /** Keeps the answer to a request that changed nothing, unless its key has one: of any number of callers all get the one that counts. */
  keep(request: ClientRequest, answer: FirstAnswer): Promise<FirstAnswer | 'another-request'>
}

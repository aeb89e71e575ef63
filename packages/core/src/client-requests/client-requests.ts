import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import type { Credits } from '../credits/credits.ts'

/**
 * Name that a client gives to a send or transfer so that it can be repeated safely (ruling 1.24): 1 to 255 printable
 * characters.
 */
export type IdempotencyKey = Brand<string, 'IdempotencyKey'>

export const keyCharactersMax = 255

/** Pattern without control and format characters, line and paragraph separators, and lone surrogates. */
const usable = new RegExp(`^[^\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]{1,${keyCharactersMax}}$`, 'u')

/**
 * Parses an idempotency key. Returns undefined for a missing or blank one, and 'unusable' if it is too long or not
 * printable.
 */
export function readIdempotencyKey(text: string | undefined): IdempotencyKey | undefined | 'unusable' {
  const key = text?.trim()
  if (key === undefined || key === '') return undefined
  return usable.test(key) ? (key as IdempotencyKey) : 'unusable'
}

/** Send or transfer that its client may repeat. Keys are separate for each account. */
export interface ClientRequest {
  readonly account: AccountId
  readonly key: IdempotencyKey
  /** Canonical form of the request. Two requests are the same if their canonical forms are equal. */
  readonly canonical: string
  /** Seconds for which its first answer counts, at most `firstAnswerSeconds`, which is the default. */
  readonly keptSeconds?: number | undefined
}

/** First answer to a request, which every repetition receives as well. */
export interface FirstAnswer {
  /** Answer in the format of the use case that wrote it. */
  readonly text: string
  /** Balance right after a send. */
  readonly balance?: Credits | undefined
}

/** Seconds for which a first answer is kept (ruling 1.24): 48 hours. */
export const firstAnswerSeconds = 48 * 3600

/**
 * Returns the seconds by which the first answer to a request counts as older than it is, so that all stored answers
 * expire at the same age.
 */
export const initialAgeSeconds = ({ keptSeconds = firstAnswerSeconds }: Pick<ClientRequest, 'keptSeconds'>): number =>
  Math.max(0, firstAnswerSeconds - keptSeconds)

/**
 * First answers to requests with a key (ruling 1.24). `Messages` and `Ledger` store the answers to sends and transfers
 * themselves, in the transaction that accepts the messages or moves the credits. `History` drops expired answers.
 */
export interface ClientRequests {
  /** Finds the answer stored under the key. Returns 'another-request' if it answered a different request. */
  find(request: ClientRequest): Promise<FirstAnswer | 'another-request' | undefined>
  /**
   * Stores the answer to a request that changed nothing, unless its key has an answer. All concurrent callers receive
   * the same stored answer.
   */
  keep(request: ClientRequest, answer: FirstAnswer): Promise<FirstAnswer | 'another-request'>
}

/** Result of a request that had no effect, so that its key stays free. */
type Undone = string | { readonly overLimitSeconds: number }

/**
 * Returns a function that runs `first` for at most one request of a key at a time in this process (ruling 1.24). The
 * same request waits for the result of the running one and does not count for the rate limit. A different request is
 * refused if the running one is answered; otherwise it runs next. Between processes the store decides. Rejects as
 * `first` does.
 */
export function onceAtATime<Refusal extends Undone>() {
  type Result = FirstAnswer | 'another-request' | Refusal
  /** Requests under way. An array, because a `Map` keeps memory for deleted entries (docs/decisions/0061). */
  const underWay: UnderWay<Result>[] = []
  const find = ({ account, key }: ClientRequest) =>
    underWay.find(({ request }) => request.key === key && request.account === account)

  return async (request: ClientRequest, first: () => Promise<Result>): Promise<Result> => {
    for (let other = find(request); other !== undefined; other = find(request)) {
      const result = await other.result
      if (other.request.canonical === request.canonical) return result
      if (isAnswer(result)) return 'another-request'
    }
    const own = { request, result: first() }
    underWay.push(own)
    try {
      return await own.result
    } finally {
      const last = underWay.pop()
      if (last !== undefined && last !== own) underWay[underWay.indexOf(own)] = last
    }
  }
}

interface UnderWay<Result> {
  readonly request: ClientRequest
  readonly result: Promise<Result>
}

export const isAnswer = (result: FirstAnswer | Undone): result is FirstAnswer =>
  typeof result === 'object' && 'text' in result

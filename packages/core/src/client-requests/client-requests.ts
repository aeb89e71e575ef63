import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import type { Credits } from '../credits/credits.ts'

/**
 * What a client names a send or a transfer by, so that it can ask for it again (ruling 1.24): 1 to 255 printable
 * characters.
 */
export type IdempotencyKey = Brand<string, 'IdempotencyKey'>

export const keyCharactersMax = 255

/** No control or format character, no line or paragraph separator, no lone surrogate. */
const usable = new RegExp(`^[^\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]{1,${keyCharactersMax}}$`, 'u')

/**
 * A key as it was given, trimmed. Undefined: none was given, or a blank one. Unusable: it is too long, or not
 * printable.
 */
export function readIdempotencyKey(given: string | undefined): IdempotencyKey | undefined | 'unusable' {
  const key = given?.trim()
  if (key === undefined || key === '') return undefined
  return usable.test(key) ? (key as IdempotencyKey) : 'unusable'
}

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
 * The first answers to requests with a key (ruling 1.24). What accepts messages and moves credits keeps its answer
 * itself, in the step that does it (`Messages`, `Ledger`). Answers that no longer count are dropped with the history
 * (`History`).
 */
export interface ClientRequests {
  /** The answer that is kept under its key. Another request: it was to a request that asked for something else. */
  find(request: ClientRequest): Promise<FirstAnswer | 'another-request' | undefined>
  /**
   * Keeps the answer to a request that changed nothing, unless its key has one: of any number of callers all get the
   * one that counts.
   */
  keep(request: ClientRequest, answer: FirstAnswer): Promise<FirstAnswer | 'another-request'>
}

/** Nothing was done; the key is as free as it was. */
type Undone = string | { readonly overLimitSeconds: number }

/**
 * Runs `first` for one of the requests under a key at a time. The same request waits for its result, whatever that is,
 * and takes no share of a rate limit; another one is refused if there is an answer, and else has its turn (ruling
 * 1.24). Of two processes the store decides. Rejects with what `first` rejects with.
 */
export function onceAtATime<Refusal extends Undone>() {
  type Result = FirstAnswer | 'another-request' | Refusal
  /** As many as are worked on. An array: a `Map` would keep what was deleted (docs/decisions/0061). */
  const underWay: UnderWay<Result>[] = []
  const find = ({ account, key }: ClientRequest) =>
    underWay.find(({ request }) => request.key === key && request.account === account)

  return async (request: ClientRequest, first: () => Promise<Result>): Promise<Result> => {
    for (let other = find(request); other !== undefined; other = find(request)) {
      const result = await other.result
      if (other.request.asked === request.asked) return result
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

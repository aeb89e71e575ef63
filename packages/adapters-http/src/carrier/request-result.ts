import type { RequestResult } from '@gateway/carrier-kit'
import type { ProviderAccount } from '../account.ts'
import { readAnswer } from '../answers/read-answer.ts'
import type { Exchange } from '../transport/exchange.ts'

export interface SentMessage {
  readonly account: ProviderAccount
  readonly ownId: string
  /** Time since the first attempt, in milliseconds. */
  readonly age: number
  /** Milliseconds since 1970. */
  readonly now: number
  /** Called with the reason of an unknown outcome. */
  readonly note: (reason: string) => void
}

/** Share of the provider's guarantee within which a request is repeated. The rest is a margin for clocks and delays. */
const repeatableShare = 0.5

/**
 * Translates the outcome of a request for the outbox. An unknown outcome may be repeated only if the provider
 * guarantees that a repetition under the same id is not delivered twice, and well within the time of that guarantee
 * (P-5).
 */
export function requestResult(exchange: Exchange, { account, ownId, age, now, note }: SentMessage): RequestResult {
  const { repeatable } = account.provider.description.send
  const isRepeatable = repeatable !== undefined && age < repeatable.hours * 3_600_000 * repeatableShare
  const unknown = (reason: string, hasAnswered: boolean): RequestResult => {
    note(reason)
    return { is: 'unknown', hasAnswered, isRepeatable }
  }
  if (exchange.outcome === 'unsent') return { is: 'refused-for-now', reason: exchange.reason }
  if (exchange.outcome === 'unknown') return unknown(exchange.reason, false)
  const meaning = readAnswer(account, exchange.answer, ownId, now)
  switch (meaning.outcome) {
    case 'accepted':
    case 'partly': {
      const { reference, furtherReferences } = meaning
      const partial = meaning.outcome === 'partly' ? ({ isPartial: true } as const) : {}
      return { is: 'accepted', reference, ...(furtherReferences.length > 0 && { furtherReferences }), ...partial }
    }
    case 'refused':
      return { is: 'refused', reason: meaning.error }
    case 'throttled':
      return { is: 'throttled', reason: meaning.error, retryAfterSeconds: meaning.waitSeconds }
    case 'broken':
      return { is: 'account-broken', reason: meaning.error }
    case 'delayed':
      return { is: 'refused-for-now', reason: meaning.error }
    case 'unknown':
      return unknown(meaning.error, true)
  }
}

import type { RequestResult } from '@gateway/carrier-kit'
import type { ProviderAccount } from '../account.ts'
import { readAnswer } from '../answers/read-answer.ts'
import { maskSecrets } from '../requests/mask-secrets.ts'
import type { Exchange } from '../transport/exchange.ts'
import { hiddenText } from './traffic.ts'

export interface SentMessage {
  readonly account: ProviderAccount
  readonly ownId: string
  /** Text of the message. */
  readonly text: string
  /** Time since the first attempt, in milliseconds. */
  readonly age: number
  /** Milliseconds since 1970. */
  readonly now: number
  /** Called with the reason of an unknown outcome. */
  readonly note: (reason: string) => void
}

/** Share of the provider's guarantee within which a request is repeated. The rest is a margin for clocks and delays. */
export const repeatableShare = 0.5

/**
 * Translates the outcome of a request for the outbox. An unknown outcome may be repeated only if the provider
 * guarantees that a repetition under the same id is not delivered twice, and well within the time of that guarantee
 * (P-5).
 */
export function requestResult(
  exchange: Exchange,
  { account, ownId, text, age, now, note }: SentMessage,
): RequestResult {
  const { repeatable } = account.provider.description.send
  const isRepeatable = repeatable !== undefined && age < repeatable.hours * 3_600_000 * repeatableShare
  const unknown = (reason: string, hasAnswered: boolean): RequestResult => {
    note(reason)
    return { is: 'unknown', hasAnswered, isRepeatable }
  }
  if (exchange.outcome === 'unsent') return { is: 'refused-for-now', reason: exchange.reason }
  if (exchange.outcome === 'unknown') return unknown(exchange.reason, false)
  const meaning = readAnswer(account, exchange.answer, ownId, now)
  // The provider's error may quote the request, and neither secrets nor message texts may reach a log (P-15).
  const error = 'error' in meaning ? maskSecrets(withoutText(meaning.error, text), account) : ''
  switch (meaning.outcome) {
    case 'accepted':
    case 'partly': {
      const { reference, furtherReferences, price } = meaning
      return {
        ...{ is: 'accepted', reference },
        ...(furtherReferences.length > 0 && { furtherReferences }),
        ...(meaning.outcome === 'partly' && { isPartial: true }),
        ...(price && { price }),
      }
    }
    case 'refused':
      return { is: 'refused', reason: error, ...(meaning.optOut && { optOut: true }) }
    case 'throttled':
      return { is: 'throttled', reason: error, retryAfterSeconds: meaning.waitSeconds }
    case 'broken':
      return { is: 'account-broken', reason: error }
    case 'delayed':
      return { is: 'refused-for-now', reason: error }
    case 'unknown':
      return unknown(error, true)
  }
}

/** Texts shorter than this are not searched for in errors, because they occur there by chance. */
const searchedLengthMin = 4

const withoutText = (error: string, text: string): string =>
  text.length < searchedLengthMin ? error : error.replaceAll(text, hiddenText(text))

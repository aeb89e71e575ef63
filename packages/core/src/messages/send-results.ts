import type { FirstAnswer } from '../client-requests/client-requests.ts'
import { credits, plus, type Credits } from '../credits/credits.ts'
import type { Instant } from '../time/instant.ts'
import type { MessageId } from './message-id.ts'
import type { Acceptance, AnswerDraft, Refusal } from './messages.ts'
import type { Msisdn } from './msisdn.ts'
import {
  isPassed,
  numberOf,
  type Recipient,
  type ScreenedRecipient,
  type ScreenedText,
  type TextToSend,
} from './screen-texts.ts'

export interface AcceptedRecipient<To extends Recipient = Recipient> {
  /** Recipient as submitted. */
  readonly recipient: To
  /** Trimmed number (ruling 1.8). */
  readonly number: string
  readonly id: MessageId
  readonly cost: Credits
  /** Scheduled time; undefined if the message is sent at once. */
  readonly due: Instant | undefined
  /** Balance of the account after this recipient. */
  readonly balance: Credits
}

export interface RefusedRecipient<To extends Recipient = Recipient> {
  /** Recipient as submitted. */
  readonly recipient: To
  /** Trimmed number (ruling 1.8). */
  readonly number: string
  readonly refused: Refusal
  /** Balance of the account after this recipient. It is unchanged, because a refused recipient costs nothing. */
  readonly balance: Credits
}

export type SentRecipient<To extends Recipient = Recipient> = AcceptedRecipient<To> | RefusedRecipient<To>

/** One result per recipient, by text, in request order. */
export type SendResults<To extends Recipient = Recipient> = readonly (readonly SentRecipient<To>[])[]

/**
 * Merges the results of ordered recipients with the refusals of the screening. Works from the last recipient to the
 * first, because only the balance after the last one is known.
 */
export function resultsOf<To extends Recipient>(
  texts: readonly Pick<ScreenedText<To>, 'due' | 'recipients'>[],
  accepted: Acceptance,
): SendResults<To> {
  const ordered = accepted.results.length === 1 ? [...(accepted.results[0] ?? [])] : accepted.results.flat()
  let { balance } = accepted
  const resultOf = (screened: ScreenedRecipient<To>, due: Instant | undefined): SentRecipient<To> => {
    if (!isPassed(screened)) return { ...screened, balance }
    const { recipient, number, cost } = screened
    const id = ordered.pop()
    if (id === undefined) throw new Error('the store returned fewer results than the order has recipients')
    if (id === 'insufficient-credits') return { recipient, number, refused: id, balance }
    const result = { recipient, number, id, cost, due, balance }
    balance = plus(balance, cost)
    return result
  }
  return lastFirst(texts, ({ due, recipients }) => lastFirst(recipients, (recipient) => resultOf(recipient, due)))
}

/** Maps a list from its end. */
function lastFirst<Item, Result>(items: readonly Item[], result: (item: Item) => Result): readonly Result[] {
  const results = items.toReversed().map(result)
  return results.reverse()
}

// The answer to a request with a key is stored as text for 48 hours (ruling 1.24). The rest of this file writes and
// reads that text.

/**
 * Consecutive recipients with the same result. Accepted recipients have consecutive ids: the run contains the first id,
 * the number of recipients, and the cost of each. Refused recipients: the run contains the refusal and the number of
 * recipients.
 */
type Run = [first: MessageId, count: number, cost: Credits] | [refused: Refusal, count: number]

/** Time at which the text is sent (null: at once), followed by the results of its recipients in request order. */
type AnsweredText = readonly [due: Instant | null, ...runs: Run[]]

type Result = { readonly id: MessageId; readonly cost: Credits } | { readonly refused: Refusal }

/** Returns the part of the answer that is known before the messages have ids. */
export const draftAnswer = (screened: readonly Pick<ScreenedText, 'due' | 'recipients'>[]): AnswerDraft =>
  screened.map(({ due, recipients }) => ({
    due,
    recipients: recipients.map((one) => (isPassed(one) ? one.cost : one.refused)),
  }))

/**
 * Returns the text of an answer. `draft` contains what was known before, `results` the results of the ordered
 * recipients.
 */
export function writeAnswer(draft: AnswerDraft, results: Acceptance['results']): string {
  const ids = results.flat()
  let next = 0
  const resultOf = (costOrRefusal: Credits | Refusal): Result => {
    if (typeof costOrRefusal === 'string') return { refused: costOrRefusal }
    const id = ids[next++]
    if (id === undefined) throw new Error('the store returned fewer results than the order has recipients')
    return id === 'insufficient-credits' ? { refused: id } : { id, cost: costOrRefusal }
  }
  return textOf(draft.map(({ due, recipients }) => [due, recipients.map(resultOf)]))
}

/**
 * Returns the text of the answer with these results. A thousand recipients with consecutive ids and one price need only
 * about thirty characters.
 */
export const answerText = (results: SendResults): string =>
  textOf(
    results.map((recipients) => {
      const accepted = recipients.find((recipient) => 'id' in recipient)
      return [accepted?.due, recipients]
    }),
  )

const textOf = (texts: readonly (readonly [due: Instant | undefined, results: readonly Result[]])[]): string =>
  JSON.stringify(
    texts.map(([due, results]): AnsweredText => {
      const isAnyAccepted = results.some((result) => 'id' in result)
      return [isAnyAccepted ? (due ?? null) : null, ...runsOf(results)]
    }),
  )

function runsOf(results: readonly Result[]): Run[] {
  const runs: Run[] = []
  for (const result of results) {
    const last = runs.at(-1)
    if (last !== undefined && continues(last, result)) last[1]++
    else runs.push('id' in result ? [result.id, 1, result.cost] : [result.refused, 1])
  }
  return runs
}

const continues = ([first, count, cost]: Run, result: Result): boolean =>
  'id' in result
    ? typeof first === 'number' && result.id === first + count && result.cost === cost
    : first === result.refused

/** Reads the results from the text of a stored answer and assigns them to the recipients of the same request. */
export function resultsIn<To extends Recipient>(
  { text, balance = credits(0) }: FirstAnswer,
  texts: readonly TextToSend<To>[],
): SendResults<To> {
  const answered = JSON.parse(text) as readonly AnsweredText[]
  const ids: MessageId[] = []
  const screened = texts.map(({ recipients }, i) => {
    const [due = null, ...runs] = answered[i] ?? []
    const each = runs.flatMap((run) => Array.from({ length: run[1] }, (_, nth) => ({ run, nth })))
    return {
      body: undefined,
      due: due ?? undefined,
      recipients: recipients.map((recipient, at): ScreenedRecipient<To> => {
        const { run: [first, , cost] = [], nth = 0 } = each[at] ?? {}
        if (first === undefined)
          throw new Error(
            `the stored answer to the first request has ${each.length} results for text ${i + 1}, but the repeated ` +
              `request has ${recipients.length} recipients`,
          )
        const number = numberOf(recipient)
        if (typeof first === 'string') return { recipient, number, refused: first }
        ids.push((first + nth) as MessageId)
        return { recipient, number, to: number as Msisdn, cost }
      }),
    }
  })
  return resultsOf(screened, { results: [ids], balance })
}

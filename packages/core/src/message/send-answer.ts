import { credits, type Credits } from '../credits/credits.ts'
import type { FirstAnswer } from '../retry/client-requests.ts'
import type { Instant } from '../time/instant.ts'
import type { MessageId } from './message-id.ts'
import type { Msisdn } from './msisdn.ts'
import { numberOf, type Recipient, type ScreenedRecipient, type TextToSend } from './screen-texts.ts'
import type { Refusal } from './screening.ts'
import { resultsOf, type SendResults, type SentRecipient } from './send-results.ts'

/** The first id of neighbours with consecutive ids, how many they are, and what each cost; or why so many neighbours were refused. */
type Run = [first: MessageId, count: number, cost: Credits] | [refused: Refusal, count: number]

/** When the text goes out, null for at once, and its recipients in request order. */
type AnsweredText = readonly [due: Instant | null, ...runs: Run[]]

/** What is asked for, in its only form: all that the results depend on, and nothing of how it was written (ruling 1.24). */
export const askedFor = (texts: readonly TextToSend[]): string =>
  JSON.stringify([
    'send',
    ...texts.map(({ text, recipients, scheduled = null, partsMax = null }) => [
      text,
      scheduled,
      partsMax,
      ...recipients.map((recipient) => {
        const own = typeof recipient === 'string' ? null : (recipient.clientMessageId ?? null)
        return own === null ? numberOf(recipient) : [numberOf(recipient), own]
      }),
    ]),
  ])

/** The results as they are kept: of recipients in order, with consecutive ids and at one price, some thirty characters in all. */
export const answerText = (results: SendResults): string =>
  JSON.stringify(
    results.map((recipients): AnsweredText => {
      const accepted = recipients.find((recipient) => 'id' in recipient)
      return [accepted?.due ?? null, ...runsOf(recipients)]
    }),
  )

function runsOf(recipients: readonly SentRecipient[]): Run[] {
  const runs: Run[] = []
  for (const recipient of recipients) {
    const last = runs.at(-1)
    if (last !== undefined && continues(last, recipient)) last[1]++
    else runs.push('id' in recipient ? [recipient.id, 1, recipient.cost] : [recipient.refused, 1])
  }
  return runs
}

const continues = ([first, count, cost]: Run, recipient: SentRecipient): boolean =>
  'id' in recipient
    ? typeof first === 'number' && recipient.id === first + count && recipient.cost === cost
    : first === recipient.refused

/** The results that `answerText` was given, for the recipients of the same request. */
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
        if (first === undefined) throw new Error('a first answer has fewer results than its request has recipients')
        const number = numberOf(recipient)
        if (typeof first === 'string') return { recipient, number, refused: first }
        ids.push((first + nth) as MessageId)
        return { recipient, number, to: number as Msisdn, cost }
      }),
    }
  })
  return resultsOf(screened, { results: [ids], balance })
}

import type { Quote, ScreenedRecipient } from '@gateway/core/messages'
import { amount, count, counted } from '../../format.ts'
import type { View } from '../../page.ts'
import { REFUSAL } from '../../words.ts'

type RefusedRecipient = Extract<ScreenedRecipient<string>, { readonly refused: unknown }>

/** Why numbers are refused, with the numbers. */
function byReason(refused: readonly RefusedRecipient[]) {
  const reasons = [...new Set(refused.map((one) => one.refused))]
  return reasons.map((reason) => ({
    reason,
    numbers: refused.filter((one) => one.refused === reason).map(({ number }) => number),
  }))
}

interface Quoted {
  readonly quote: Quote<string>
  /** Of each message. */
  readonly parts: number
}

const shownMax = 5

/** Why numbers get no message, and which these are. */
function Refused({ quote }: Pick<Quoted, 'quote'>) {
  const refused = quote.texts.flat().filter((one) => 'refused' in one)
  if (refused.length === 0) return null
  return (
    <ul>
      {byReason(refused).map(({ reason, numbers }) => (
        <li key={reason}>
          {REFUSAL[reason]}: <span class="text">{numbers.slice(0, shownMax).join(', ')}</span>
          {numbers.length > shownMax && ` and ${count(numbers.length - shownMax)} more`}
        </li>
      ))}
    </ul>
  )
}

/** What a send would cost and to whom it would not go, in short. */
function InShort({ quote, parts }: Quoted) {
  const messages = quote.texts.flat().filter((one) => !('refused' in one)).length
  return (
    <>
      <p>
        <strong>
          {counted(messages, 'message')}, {counted(parts, 'part')} each: {amount(quote.cost)} credits.
        </strong>{' '}
        {amount(quote.left)} left afterwards.
      </p>
      <Refused quote={quote} />
    </>
  )
}

/** A place in the form of a send, which a script fills while somebody writes. */
export const LiveQuote = ({ of }: { readonly of?: string | Quoted }) => (
  <div id="quote" role="status" data-island="quote">
    {typeof of === 'string' ? <p>{of}</p> : of !== undefined && <InShort {...of} />}
  </div>
)

/** What the script is given, of which it takes that place. */
export const liveQuote = (of: string | Quoted): View => ({ title: 'Quote', main: <LiveQuote of={of} /> })

import type { BulkRow, RowRefusal } from '@gateway/core/bulk-sends'
import { bodyOf, type OwnSenders, type Quote } from '@gateway/core/messages'
import { amount, count, counted } from '../../format.ts'
import type { HolderVisit, View } from '../../page.ts'
import { recipientsMax } from '../../recipients.ts'
import { ROW_REFUSAL } from '../../words.ts'
import { readSending, type Draft } from './draft-fields.tsx'
import { typedProblems, typedRows } from './store-draft.ts'

interface RefusedNumber {
  readonly number: string
  readonly refused: RowRefusal
}

/** Groups refused numbers by reason. */
function byReason(refused: readonly RefusedNumber[]) {
  const reasons = [...new Set(refused.map((one) => one.refused))]
  return reasons.map((reason) => ({
    reason,
    numbers: refused.filter((one) => one.refused === reason).map(({ number }) => number),
  }))
}

interface Quoted {
  /** True if the time of the send is past. */
  readonly isPast: boolean
  readonly quote: Quote<string>
  /** The numbers as they were read, in the order in which they were typed. */
  readonly rows: readonly BulkRow[]
  /** Number of parts of each message. */
  readonly parts: number
}

const shownMax = 5

/** List of the refused numbers by reason. */
function Refused({ quote, rows }: Pick<Quoted, 'quote' | 'rows'>) {
  const unread = rows.flatMap(({ number, refused: reason }): RefusedNumber[] =>
    reason === undefined || reason === 'repeated' ? [] : [{ number, refused: reason }],
  )
  const refused = [...unread, ...quote.texts.flat().filter((one) => 'refused' in one)]
  if (refused.length === 0) return null
  return (
    <ul>
      {byReason(refused).map(({ reason, numbers }) => (
        <li key={reason}>
          {ROW_REFUSAL[reason]}: <span class="text">{numbers.slice(0, shownMax).join(', ')}</span>
          {numbers.length > shownMax && ` and ${count(numbers.length - shownMax)} more`}
        </li>
      ))}
    </ul>
  )
}

/** Summary of the cost of a send and of the numbers that would get no message. */
function InShort({ quote, rows, parts, isPast }: Quoted) {
  const changed = rows.filter((row) => row.changed === true && row.refused === undefined)
  const messages = quote.texts.flat().filter((one) => !('refused' in one)).length
  return (
    <>
      <p>
        <strong>
          {counted(messages, 'message')}, {counted(parts, 'part')} each: {amount(quote.cost)} credits.
        </strong>{' '}
        {amount(quote.remaining)} left afterwards.
      </p>
      {changed.length > 0 && (
        <p>
          Read differently from how they are written:{' '}
          <span class="text">
            {changed
              .slice(0, shownMax)
              .map(({ number, fields }) => `“${fields[0] ?? ''}” as ${number}`)
              .join(', ')}
          </span>
          {changed.length > shownMax && ` and ${count(changed.length - shownMax)} more`}
        </p>
      )}
      {isPast && <p>The time has passed: the messages would be sent at once.</p>}
      <Refused quote={quote} rows={rows} />
    </>
  )
}

/** Area in the form of a send, which a script fills while the person types. */
export const LiveQuote = ({ of }: { readonly of?: string | Quoted }) => (
  <div id="quote" role="status" data-island="quote">
    {typeof of === 'string' ? <p>{of}</p> : of !== undefined && <InShort {...of} />}
  </div>
)

/** Returns a page with the summary of the cost. The script copies the summary into the form. */
const liveQuote = (of: string | Quoted): View => ({ title: 'Quote', main: <LiveQuote of={of} /> })

/** Returns the summary of the cost for the text and numbers being typed. */
export async function quoteTyped(visit: HolderVisit, draft: Draft, own: OwnSenders): Promise<View> {
  const { gateway, account, now } = visit
  const [problem] = Object.values(typedProblems(visit, draft, own))
  if (problem !== undefined) return liveQuote(problem)
  const rows = typedRows(visit, draft)
  const recipients = rows.filter(({ refused }) => refused === undefined).map(({ number }) => number)
  if (recipients.length > recipientsMax) return liveQuote(tooManyToFollow)
  const { text } = draft
  const { problems: _none, ...sending } = readSending(draft, own)
  const quote = await gateway.queries.quoteMessages(account, [{ text, recipients, ...sending }])
  if (quote === 'invalid-sender') return liveQuote(noSender)
  const body = bodyOf(text)
  const isPast = sending.scheduled !== undefined && sending.scheduled <= now
  return liveQuote({ quote, rows, parts: typeof body === 'string' ? 0 : body.parts, isPast })
}

const tooManyToFollow = `The next page shows the cost of more than ${count(recipientsMax)} numbers.`
const noSender = 'Your account has no sender that may be used for one of these numbers. Ask the operator.'

import type { BulkSendId } from '@gateway/core/bulk-sends'
import { bodyOf } from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import type { Fields, Problems } from '../../forms.ts'
import { count, minuteOf } from '../../format.ts'
import { forHolders, type HolderVisit, type View } from '../../page.ts'
import { rowsOf } from '../../read-list.ts'
import { readRecipients, recipientsMax, typedMax, type Recipients } from '../../recipients.ts'
import { filePreview } from './file-preview.tsx'
import { draftFromFile, draftFromNumbers } from './from-file.ts'
import { compose, draftOf, readTime, type Draft } from './compose.tsx'
import { liveQuote } from './live-quote.tsx'
import { storedRows } from './own-bulk-send.ts'

interface ReadDraft extends Recipients {
  readonly due: Instant | undefined
  readonly problems: Problems
}

function read({ text, numbers: typed, time }: Draft): ReadDraft {
  const recipients = readRecipients(typed)
  const { numbers } = recipients
  const due = readTime(time)
  const body = bodyOf(text)
  const tooMany = `These are ${count(numbers.length)} numbers. At most ${count(typedMax)} can be typed. Use a file for more.`
  const problems = {
    ...(body === 'no-message' && { text: 'Enter a text.' }),
    ...(body === 'too-long' && { text: 'The text is too long: up to 918 characters can be sent.' }),
    ...(numbers.length === 0 && { numbers: 'Enter at least one number.' }),
    ...(numbers.length > typedMax && { numbers: tooMany }),
    ...(due === 'unusable' && { time: 'Enter a time such as 2026-11-30 14:00.' }),
  }
  return { ...recipients, due: due === 'unusable' ? undefined : due, problems }
}

/** Returns the index of the column that was chosen in the preview of the file, or undefined without scripts. */
function columnOf(fields: Fields): number | undefined {
  const column = fields.text('column')
  return /^[0-9]{1,2}$/.test(column) ? Number(column) : undefined
}

/**
 * `/send`: shows the form with text, numbers and time. The input is stored as a draft before the check is shown, so
 * that a reload, a step back or a second click concerns the same send.
 */
export const send = forHolders({
  path: '/send',
  isForm: true,
  takesFile: true,
  async show(visit) {
    const { gateway, account, query } = visit
    const templates = await gateway.queries.listTemplates(account)
    const chosen = templates.find(({ id }) => String(id) === query.get('template'))
    const typed = await typedDraft(visit)
    const numbers = query.get('to')?.slice(0, 20) ?? typed?.numbers ?? ''
    const draft = { text: chosen?.text ?? typed?.text ?? '', numbers, time: typed?.time ?? '' }
    return compose(draft, {}, { templates, chosen, draft: typed && (query.get('draft') ?? undefined) })
  },
  changes: 'draftBulkSend',
  async submit(visit, fields) {
    const draft = draftOf(fields)
    const step = fields.text('step')
    if (fields.file !== undefined && step === 'preview')
      return filePreview(fields.file, fields.text('cut') !== '', draft.text)
    if (fields.file !== undefined) return draftFromFile(visit, draft, fields.file, columnOf(fields))
    const { due, all, problems } = read(draft)
    const [problem] = Object.values(problems)
    if (step === 'quote') return problem === undefined ? quote(visit, draft, all, due) : liveQuote(problem)
    return problem === undefined ? draftFromNumbers(visit, draft, all, due) : compose(draft, problems)
  },
})

/**
 * Returns the typed draft that `?draft=` names for editing, or undefined if it is unknown or was uploaded as a file.
 */
async function typedDraft(visit: HolderVisit): Promise<Draft | undefined> {
  const { gateway, account, query } = visit
  const draftId = query.get('draft') ?? ''
  const id = /^[1-9][0-9]{0,14}$/.test(draftId) ? (Number(draftId) as BulkSendId) : undefined
  const found = id === undefined ? undefined : await gateway.queries.findBulkSend(account, id)
  if (found?.state !== 'draft' || found.columns.length > 0) return undefined
  const numbers: string[] = []
  for await (const { number, fields } of storedRows(visit, found)) numbers.push(fields[0] ?? number)
  const { text, scheduled } = found
  return { text, numbers: numbers.join('\n'), time: scheduled === undefined ? '' : minuteOf(scheduled) }
}

/** Returns the summary of the cost for the text and numbers being typed. */
async function quote(
  { gateway, account, now }: HolderVisit,
  { text }: Draft,
  written: readonly string[],
  due: Instant | undefined,
): Promise<View> {
  const rows = rowsOf(written)
  const numbers = rows.filter(({ refused }) => refused === undefined).map(({ number }) => number)
  if (numbers.length > recipientsMax) return liveQuote(tooManyToFollow)
  const isPast = due !== undefined && due <= now
  const body = bodyOf(text)
  const quoted = await gateway.queries.quoteMessages(account, [{ text, recipients: numbers, scheduled: due }])
  if (quoted === 'invalid-sender') return liveQuote(noSender)
  return liveQuote(typeof body === 'string' ? 'Enter a text.' : { quote: quoted, rows, parts: body.parts, isPast })
}

const tooManyToFollow = `The next page shows the cost of more than ${count(recipientsMax)} numbers.`
const noSender = 'Your account has no sender that may be used for one of these numbers. Ask the operator.'

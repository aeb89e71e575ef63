import { readIdempotencyKey } from '@gateway/core/client-requests'
import { bodyOf, type SentRecipient } from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import type { Fields, Problems } from '../../forms.ts'
import { count } from '../../format.ts'
import { forHolders, type Answer, type HolderVisit } from '../../page.ts'
import { readRecipients, recipientsMax, typedMax } from '../../recipients.ts'
import { filePreview } from './file-preview.tsx'
import { draftFromFile, draftFromNumbers } from './from-file.ts'
import { check, refusedFile } from './check.tsx'
import { compose, draftOf, readTime, type Draft } from './compose.tsx'
import { writeIds } from './ids.ts'
import { liveQuote } from './live-quote.tsx'

interface ReadDraft {
  readonly due: Instant | undefined
  readonly numbers: readonly string[]
  readonly repeated: number
  readonly problems: Problems
}

function read({ text, numbers: given, time }: Draft): ReadDraft {
  const { numbers, repeated } = readRecipients(given)
  const due = readTime(time)
  const body = bodyOf(text)
  const tooMany = `That are ${count(numbers.length)} numbers. Up to ${count(typedMax)} can be typed; put more into a file.`
  const problems = {
    ...(body === 'no-message' && { text: 'Enter a text.' }),
    ...(body === 'too-long' && { text: 'The text is too long: up to 918 characters can be sent.' }),
    ...(numbers.length === 0 && { numbers: 'Enter at least one number.' }),
    ...(numbers.length > typedMax && { numbers: tooMany }),
    ...(due === 'unusable' && { time: 'Enter a time such as 2026-11-30 14:00.' }),
  }
  return { due: due === 'unusable' ? undefined : due, numbers, repeated, problems }
}

/** Of those that the preview of a file has shown, from 0; undefined: without a script. */
function columnOf(fields: Fields): number | undefined {
  const column = fields.text('column')
  return /^[0-9]{1,2}$/.test(column) ? Number(column) : undefined
}

/** `/send`: text, numbers and time; then what that will do; then it is done, once. */
export const send = forHolders({
  path: '/send',
  takesFile: true,
  async show({ gateway, account, query }) {
    const templates = await gateway.listTemplates(account)
    const chosen = templates.find(({ id }) => String(id) === query.get('template'))
    const draft = { text: chosen?.text ?? '', numbers: query.get('to')?.slice(0, 20) ?? '', time: '' }
    return compose(draft, {}, { templates, chosen })
  },
  changes: 'sendMessages',
  async submit(visit, fields) {
    const draft = draftOf(fields)
    const step = fields.text('step')
    if (step === 'change') return compose(draft)
    if (fields.file !== undefined && step === 'preview')
      return filePreview(fields.file, fields.text('cut') !== '', draft.text)
    if (fields.file !== undefined) return draftFromFile(visit, draft, fields.file, columnOf(fields))
    const { due, numbers, repeated, problems } = read(draft)
    const [problem] = Object.values(problems)
    if (problem !== undefined) return step === 'quote' ? liveQuote(problem) : compose(draft, problems)
    const key = readIdempotencyKey(fields.text('key'))
    if (step === 'send' && key !== undefined && key !== 'unusable') return sendOnce(visit, draft, { due, numbers }, key)

    if (numbers.length > recipientsMax && step === 'quote') return liveQuote(tooManyToFollow)
    if (numbers.length > recipientsMax) return draftFromNumbers(visit, draft, numbers, due)

    const { gateway, account, now } = visit
    const body = bodyOf(draft.text)
    const quote = await gateway.quoteMessages(account, [{ text: draft.text, recipients: numbers, scheduled: due }])
    if (quote === 'invalid-sender')
      return step === 'quote' ? liveQuote(noSender) : compose(draft, { numbers: noSender })
    if (typeof body === 'string') return compose(draft)
    if (step === 'quote') return liveQuote({ quote, parts: body.parts })
    if (step === 'refused') return refusedFile(quote)
    return check({ draft, body, due: due !== undefined && due > now ? due : undefined, now, quote, repeated })
  },
})

const tooManyToFollow = `What more than ${count(recipientsMax)} numbers cost is on the next page.`
const noSender = 'Your account has no sender that may be used for one of these numbers. Ask the operator.'

async function sendOnce(
  { gateway, account }: HolderVisit,
  draft: Draft,
  { due, numbers }: Pick<ReadDraft, 'due' | 'numbers'>,
  key: NonNullable<Parameters<HolderVisit['gateway']['sendMessages']>[2]>,
): Promise<Answer> {
  const sent = await gateway.sendMessages(account, [{ text: draft.text, recipients: numbers, scheduled: due }], key)
  if (sent === 'invalid-sender') return compose(draft, { numbers: noSender })
  if (sent === 'another-request')
    return compose(draft, { text: 'This form was used already. Check the text, then send.' })
  if (sent === 'overloaded')
    return compose(draft, { text: 'The gateway has too much to do. Nothing was sent. Try again.' })
  if ('overLimitSeconds' in sent) {
    const seconds = Math.ceil(sent.overLimitSeconds)
    return compose(draft, { text: `Your account may send again in ${seconds} seconds. Nothing was sent.` })
  }
  return { goTo: resultPath(sent.flat()) }
}

/** The page of what was sent: it names the messages, and how many numbers were refused for which reason. */
function resultPath(results: readonly SentRecipient[]): string {
  const ids = results.flatMap((result) => ('id' in result ? [result.id] : []))
  const refused = results.flatMap((result) => ('refused' in result ? [result.refused] : []))
  const reasons = [...new Set(refused)].map((reason) => `${reason}.${refused.filter((one) => one === reason).length}`)
  return `/sends/${writeIds(ids)}${reasons.length === 0 ? '' : `?refused=${reasons.join(',')}`}`
}

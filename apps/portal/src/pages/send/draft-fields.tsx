import { draftProblem, type BulkDraft } from '@gateway/core/bulk-sends'
import {
  bodyOf,
  isNameOfSender,
  readSender,
  readSendOptions,
  validityMinutesMax,
  type CallingCode,
  type OwnSender,
  type OwnSenders,
  type SendOptionName,
} from '@gateway/core/messages'
import { parseMinute, type Instant } from '@gateway/core/time'
import { Choice, TextArea, TextField } from '../../components.tsx'
import type { Fields, Problems } from '../../forms.ts'
import { count, counted, minuteOf } from '../../format.ts'
import { readRecipients, typedMax } from '../../recipients.ts'
import { TextSize } from '../../text-size.tsx'

/** Fields of a send as they were entered. */
export interface Draft {
  readonly text: string
  readonly numbers: string
  /** Scheduled time in gateway time as browsers write it, such as `2026-11-25T14:00`. Blank means at once. */
  readonly time: string
  /** Blank means the default sender. */
  readonly sender: string
  /** Minutes. Blank means the usual validity. */
  readonly validity: string
  /** '1' or blank. */
  readonly flash: string
  readonly category: string
}

export const draftOf = (fields: Fields): Draft => ({
  text: fields.text('text'),
  numbers: fields.text('numbers'),
  time: fields.trimmed('time'),
  sender: fields.trimmed('sender'),
  validity: fields.trimmed('validity'),
  flash: fields.trimmed('flash'),
  category: fields.trimmed('category'),
})

/** Returns the fields of a stored draft, as they were entered. */
export const enteredOf = ({ text, scheduled, sender, options = {} }: BulkDraft, numbers: string): Draft => ({
  ...{ text, numbers, sender: sender ?? '', time: scheduled === undefined ? '' : minuteOf(scheduled) },
  validity: String(options.validity ?? ''),
  flash: options.flash === true ? '1' : '',
  category: options.category ?? '',
})

/** Reads a time such as `2026-11-25T14:00` in gateway time. Returns undefined if it is blank. */
export function readTime(time: string): Instant | undefined | 'unusable' {
  if (time === '') return undefined
  return parseMinute(time.replace(/[-T:]/g, '').slice(0, 12)) ?? 'unusable'
}

/** Returns the errors of a text. `columns` is undefined if the text has no fields. */
export function textProblems(text: string, columns: readonly string[] | undefined): Problems {
  const body = bodyOf(text)
  const problem = columns !== undefined ? draftProblem(text, columns) : typeof body === 'string' ? body : []
  const missing = typeof problem === 'string' ? [] : problem
  const named = missing.map((name) => `“${name}”`).join(', ')
  return {
    ...(problem === 'no-message' && { text: 'Enter a text.' }),
    ...(problem === 'too-long' && { text: 'The text is too long: up to 918 characters can be sent.' }),
    ...(missing.length > 0 && { text: `The file has no column ${named}. It has ${columns?.join(', ') ?? ''}.` }),
  }
}

export const timeProblems = (time: string): Problems =>
  readTime(time) === 'unusable' ? { time: 'Enter a time such as 2026-11-30 14:00.' } : {}

export function numberProblems(typed: string, country: CallingCode | undefined): Problems {
  const { numbers } = readRecipients(typed, country)
  if (numbers.length === 0) return { numbers: 'Enter at least one number.' }
  if (numbers.length <= typedMax) return {}
  const tooMany = `These are ${count(numbers.length)} numbers. At most ${count(typedMax)} can be typed.`
  return { numbers: `${tooMany} Use a file for more.` }
}

const OPTION_PROBLEM: Readonly<Record<SendOptionName, string>> = {
  validity: `Choose one of the times, or enter 1 to ${count(validityMinutesMax)} minutes.`,
  priority: 'The priority is 0 to 3.',
  flash: 'Tick the box, or leave it empty.',
  category: 'A category has at most 32 characters.',
}

/** Reads how a send is to be sent: time, sender and options. Has an error for each unusable field. */
export function readSending(
  draft: Draft,
  { senders }: OwnSenders,
): Pick<BulkDraft, 'scheduled' | 'sender' | 'options'> & { readonly problems: Problems } {
  const scheduled = readTime(draft.time)
  const sender = readSender(draft.sender)
  const isOwn = sender === undefined || senders.some((one) => one.sender === sender)
  const options = readSendOptions((name) => (name === 'priority' ? undefined : draft[name]))
  const unusable = 'unusable' in options ? options.unusable : undefined
  return {
    scheduled: scheduled === 'unusable' ? undefined : scheduled,
    sender: sender === 'unusable' ? undefined : sender,
    options: 'unusable' in options || Object.keys(options).length === 0 ? undefined : options,
    problems: {
      ...timeProblems(draft.time),
      ...(!isOwn && { sender: 'Choose one of the senders in the list.' }),
      ...(unusable !== undefined && { [unusable]: OPTION_PROBLEM[unusable] }),
    },
  }
}

/** Text field of a send. Its hint shows the length and the number of parts, and is updated while typing. */
export const TextToSend = ({ text, problems }: { readonly text: string; readonly problems: Problems }) => (
  <TextArea
    name="text"
    label="Text"
    rows={5}
    value={text}
    problems={problems}
    hint={<TextSize text={text} />}
    island="counter"
  />
)

interface NumbersProps {
  readonly numbers: string
  /** Country of numbers without a country code. */
  readonly country: CallingCode | undefined
  readonly problems: Problems
}

export const Numbers = ({ numbers, country, problems }: NumbersProps) => (
  <TextArea
    name="numbers"
    label="Numbers"
    rows={6}
    value={numbers}
    problems={problems}
    hint={`With the country code${
      country === undefined ? '' : `, or beginning with 0 if they are of +${country}`
    }, one per line or separated by commas, at most ${count(typedMax)}.`}
  />
)

/** Validities that can be chosen, in minutes. */
const validities: readonly (readonly [minutes: number, words: string])[] = [
  [15, '15 minutes'],
  [60, '1 hour'],
  [240, '4 hours'],
  [720, '12 hours'],
  [1440, '1 day'],
  [2880, '2 days'],
  [4320, '3 days'],
]

/** Returns a validity in words, such as `4 hours`. */
export const validityWords = (minutes: number): string =>
  validities.find(([one]) => one === minutes)?.[1] ?? counted(minutes, 'minute')

/** Sender of accounts that have none of their own. */
export const operatorsNumber = 'a number of the operator'

/** Returns the label of the choice of no sender. If the default depends on the number, the hint says how. */
const usualSender = ({ usual, defaults }: OwnSenders): string =>
  defaults.length > 0 ? 'Default, by the number' : `Default: ${usual ?? operatorsNumber}`

function senderHint({ senders, usual, defaults }: OwnSenders): string {
  const ofPrefixes = defaults.map(({ prefix, sender }) => `${sender} to ${prefix}…`).join(', ')
  const byNumber = ofPrefixes === '' ? '' : ` By default it is ${ofPrefixes}, else ${usual ?? operatorsNumber}.`
  const isNamed = [...senders.map(({ sender }) => sender), ...(usual === undefined ? [] : [usual])].some(isNameOfSender)
  return isNamed
    ? `The phone shows it. Nobody can reply to a name, so nobody can opt out by a reply.${byNumber}`
    : `The phone shows it, and people can reply to it.${byNumber}`
}

const senderWords = ({ sender, isNumber, destinations }: OwnSender): string =>
  [
    sender,
    ...(isNumber ? [] : ['nobody can reply']),
    ...(destinations.length === 0 ? [] : [`only to ${destinations.map((prefix) => `${prefix}…`).join(', ')}`]),
  ].join(', ')

interface SendingProps {
  readonly draft: Draft
  readonly own: OwnSenders
  readonly problems: Problems
}

/** Fields for sender, time and further options of a send. */
export const SendingFields = ({ draft: { time, sender }, draft, own, problems }: SendingProps) => (
  <>
    <Choice
      name="sender"
      label="Sender"
      value={sender}
      problems={problems}
      hint={senderHint(own)}
      options={[
        ['', usualSender(own)],
        ...own.senders.map((one) => [one.sender, senderWords(one)] as const),
        ...(sender === '' || own.senders.some((one) => one.sender === sender)
          ? []
          : [[sender, `${sender}, not allowed any more`] as const]),
      ]}
    />
    <TextField
      name="time"
      label="Time (optional)"
      type="datetime-local"
      value={time}
      problems={problems}
      hint="In GMT+2. Leave it empty to send at once."
    />
    <MoreOptions draft={draft} problems={problems} />
  </>
)

function MoreOptions({ draft: { validity, flash, category }, problems }: Omit<SendingProps, 'own'>) {
  const isUsed = validity !== '' || flash !== '' || category !== ''
  const known = validities.map(([minutes, words]) => [String(minutes), words] as const)
  const other =
    known.some(([minutes]) => minutes === validity) || validity === '' ? [] : [[validity, validity] as const]
  return (
    <details open={isUsed}>
      <summary>More options</summary>
      <Choice
        name="validity"
        label="Try for at most"
        value={validity}
        problems={problems}
        hint="A message that could not be delivered by then is given up. If it was not sent, it costs nothing."
        options={[['', 'As long as usual'], ...known, ...other]}
      />
      <label class="box">
        <input type="checkbox" name="flash" value="1" checked={flash !== ''} />
        <span>
          Show at once on the screen, and do not keep on the phone <span class="soft">flash</span>
        </span>
      </label>
      <TextField
        name="category"
        label="Category (optional)"
        value={category}
        problems={problems}
        hint="A word of your own, by which statements group their lines, such as “reminders”."
      />
    </details>
  )
}

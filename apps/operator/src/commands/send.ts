import { setTimeout as pause } from 'node:timers/promises'
import type { Account } from '@gateway/core/accounts'
import { formatCredits } from '@gateway/core/credits'
import {
  hasOutcome,
  isFinal,
  OUTCOME,
  readWrittenNumber,
  type Refusal,
  sendOptionNames,
  type SenderAddress,
  type SendOptions,
  type SentRecipient,
  type TextToSend,
  type MessageId,
  type MessageStatus,
} from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import {
  readAccount,
  readMinute,
  readNumbers,
  readOption,
  readSeconds,
  readSenderName,
  type AccountName,
} from '../arguments.ts'
import { command, interrupted, Refused, type Context, type Run } from '../command.ts'
import type { Json } from '../output.ts'
import { counted, creditsJson, timeJson, timeText, outcomeMeaning, outcomeStatus } from '../show.ts'
import { accountOf } from './account.ts'

interface Options extends SendOptions {
  readonly account: AccountName
  readonly to: readonly string[]
  readonly text: string
  readonly at?: Instant
  readonly sender?: SenderAddress
  readonly wait?: true
  readonly timeout: number
}

/**
 * Maximum numbers of one call, the same as on the interfaces. If the result of a call is uncertain, few numbers are
 * affected.
 */
const recipientsMax = 1000

const WORDS = {
  'account-locked': 'the account is locked',
  'no-message': 'the text is blank',
  'too-long': 'the text is too long',
  'no-number': 'no number',
  'invalid-number': 'not a mobile number in international form, or no price for it',
  blacklisted: 'the number is blacklisted',
  'trial-to-self': 'a trial account cannot send to its own number',
  'opted-out': 'the recipient has opted out',
  'do-not-contact': 'the number is on the do-not-contact list',
  'insufficient-credits': 'not enough credits',
} as const satisfies Record<Refusal, string>

export const send = (run: Run) =>
  command(
    'send',
    'send a text, charged to an account like any other; exits with 1 if no number was accepted',
    "gateway send --account 3 --to 27825550101,27825550190 --text 'Hello' --wait",
  )
    .requiredOption('--account <account>', 'the sending account, by its id or login', readAccount)
    .requiredOption('--to <numbers>', "one or more numbers, separated by ','", readNumbers)
    .requiredOption('--text <text>', 'the text')
    .option('--at <time>', 'when to send: CCYYMMDDHHmm at GMT+2; a past time is now', readMinute)
    .option('--sender <sender>', 'the sender address: one that the account may use', readSenderName)
    .option(
      '--validity <minutes>',
      'minutes for which a message may wait after it is due: 1 to 4320',
      readOption('validity'),
    )
    .option(
      '--priority <0 to 3>',
      'waiting messages of the account with a higher priority go first',
      readOption('priority'),
    )
    .option('--category <label>', 'a label for statements and reports, up to 32 characters', readOption('category'))
    .option('--flash', 'phones show it at once and do not keep it')
    .option(
      '--wait',
      'show each state of each message until all are final or unknown (106); exits with 1 if they are not',
    )
    .option('--timeout <seconds>', 'with --wait: maximum number of seconds to wait', readSeconds, 60)
    .action((options: Options) => run((context) => sendText(context, options)))

async function sendText(
  context: Context,
  { account: name, to, text, at, sender, wait, timeout, ...others }: Options,
): Promise<void> {
  const { backOffice, output, interruption } = context
  const id = await context.accountId(name)
  const account = await accountOf(backOffice, id)
  const draft = {
    text,
    recipients: to.map((written) => numberToSend(output, written)),
    scheduled: at,
    sender,
    options: Object.fromEntries(sendOptionNames.map((option) => [option, others[option]])),
  }
  const { recipients, stopped } = await sendInCalls(context, account, draft)
  if (recipients.length === 0 && stopped !== undefined) throw stopped
  const ids = recipients.flatMap((recipient) => ('id' in recipient ? [recipient.id] : []))
  const sent = { account: id, recipients: recipients.map(recipientJson) }
  if (stopped !== undefined || !wait || ids.length === 0) {
    output.result(interruption.aborted ? { ...sent, interrupted: true } : sent)
    if (stopped !== undefined) throw stopped
    if (ids.length === 0) throw new Refused('No number was accepted.')
    return
  }
  const watched = await watchMessages(context, account, ids, timeout)
  const watchedSent = { ...sent, statuses: watched.statuses }
  if (interruption.aborted && !watched.allOver) {
    output.result({ ...watchedSent, interrupted: true }, `Interrupted; so far: ${watched.text || 'no status was read'}`)
    throw interrupted()
  }
  output.result(watchedSent, watched.text)
  if (watched.unknown > 0) output.note(late(watched.unknown))
  if (!watched.allOver)
    throw new Refused(`Not all messages had ended within ${timeout} s; the carrier may report the others later.`)
}

/**
 * Returns the digits of a number, and prints both forms if digits were left out. Returns an unreadable number as
 * written, and the send refuses it later.
 */
function numberToSend(output: Context['output'], written: string): string {
  const { number, changed } = readWrittenNumber(written)
  if (changed === true) output.note(`“${written}” was read as ${number}.`)
  return number ?? written
}

const late = (unknown: number): string =>
  `The outcome of ${counted(unknown, 'message')} is unknown (106). It may stay unknown, or a late receipt may still change it.`

interface Sent {
  readonly recipients: readonly SentRecipient[]
  /** Error that ended the sending early. The remaining numbers were not sent, or may not have been sent. */
  readonly stopped?: Error
}

/** Sends in calls of `recipientsMax` numbers. Reports what was accepted even if a later call fails. */
async function sendInCalls(
  { gateway, change, output, interruption }: Context,
  account: Account,
  draft: TextToSend<string>,
): Promise<Sent> {
  const recipients: SentRecipient[] = []
  const all = draft.recipients
  for (let from = 0; from < all.length; from += recipientsMax) {
    if (interruption.aborted) {
      output.note(`The numbers from ${all[from]} on were not sent.`)
      return { recipients, stopped: interrupted() }
    }
    const some = { ...draft, recipients: all.slice(from, from + recipientsMax) }
    const made = { action: 'sendMessages' as const, account: account.id, given: { recipients: some.recipients.length } }
    const results = await change(made, () => gateway.commands.sendMessages(account, [some])).catch(
      (problem: unknown) => problem as Error,
    )
    if (results instanceof Error) {
      if (from > 0) output.note(`It is unknown whether the numbers from ${all[from]} on were sent.`)
      return { recipients, stopped: results }
    }
    if (results === 'invalid-sender') {
      const why = 'The account may not use this sender for these numbers: see gateway sender list'
      return { recipients, stopped: new Refused(`${why}.`) }
    }
    if (results === 'overloaded' || 'overLimitSeconds' in results) {
      const why =
        results === 'overloaded' ? 'The gateway is overloaded' : 'The account has exceeded its limit of recipients'
      const rest = from === 0 ? 'nothing was sent' : `the numbers from ${all[from]} on were not sent`
      return { recipients, stopped: new Refused(`${why}; ${rest}. Try again.`) }
    }
    for (const recipient of results.flat()) {
      output.line(recipientText(recipient))
      recipients.push(recipient)
    }
    if (all.length > recipientsMax) output.progress(`${recipients.length} of ${all.length} numbers`)
  }
  output.progress('')
  return { recipients }
}

const recipientJson = (recipient: SentRecipient): Json =>
  'id' in recipient
    ? {
        number: recipient.number,
        message: recipient.id,
        cost: creditsJson(recipient.cost),
        due: timeJson(recipient.due),
      }
    : { number: recipient.number, refusal: recipient.refused }

const recipientText = (recipient: SentRecipient): string => {
  if (!('id' in recipient)) return `${recipient.number}: refused, ${WORDS[recipient.refused]}`
  const when = recipient.due === undefined ? '' : `, due ${timeText(recipient.due)} (GMT+2)`
  return `${recipient.number}: message ${recipient.id}, ${formatCredits(recipient.cost)} credits${when}`
}

const pollMilliseconds = 250
const idsMax = 1000

/** Returns the status as the interfaces do, except that a waiting message is not called unknown. */
function statusOf(status: MessageStatus): { readonly status: string; readonly code: number; readonly meaning: string } {
  if (status === 'not-found') return { status: 'NOTFOUND', code: -2, meaning: 'no such message' }
  if (status.code === 'waiting') return { status: 'WAITING', code: -1, meaning: 'not handed to a carrier yet' }
  return { status: outcomeStatus(status.code), code: status.code, meaning: outcomeMeaning(status.code) }
}

const wordOf = (message: MessageStatus): string => {
  const { status, code, meaning } = statusOf(message)
  return `${status} ${code} (${meaning})`
}

export interface Watched {
  /** True if no message is expected to change any more. */
  readonly allOver: boolean
  /** Number of messages with an unknown outcome (106). A late receipt may still change the outcome. */
  readonly unknown: number
  /** Status of each message. After an interruption, only the messages that were read until then are included. */
  readonly statuses: readonly Json[]
  /** Number of messages by final state. */
  readonly text: string
}

/**
 * Prints each change of state until every message is final or has an unknown outcome (106), which rarely changes. Stops
 * earlier if the time is over or the user interrupts.
 */
export async function watchMessages(
  { gateway, output, interruption }: Pick<Context, 'gateway' | 'output' | 'interruption'>,
  account: Account,
  ids: readonly MessageId[],
  timeoutSeconds: number,
): Promise<Watched> {
  const end = performance.now() + timeoutSeconds * 1000
  const seen = new Map<MessageId, MessageStatus>()
  let open = ids
  while (!interruption.aborted) {
    for (let at = 0; at < open.length; at += idsMax) {
      const some = open.slice(at, at + idsMax)
      const statuses = await gateway.queries.queryStatus(account, some).catch((problem: unknown) => {
        if (interruption.aborted) return undefined
        throw problem
      })
      if (statuses === undefined) break
      some.forEach((id, nth) => {
        const status = statuses[nth] ?? 'not-found'
        const before = seen.get(id)
        if (before === undefined || wordOf(before) !== wordOf(status)) output.line(`message ${id}: ${wordOf(status)}`)
        seen.set(id, status)
      })
    }
    open = open.filter((id) => !isOver(seen.get(id)))
    if (open.length === 0 || performance.now() >= end) break
    output.progress(`${ids.length - open.length} of ${ids.length} messages have ended`)
    await pause(pollMilliseconds, undefined, { signal: interruption }).catch(() => undefined)
  }
  return {
    allOver: open.length === 0,
    unknown: [...seen.values()].filter(isUnknown).length,
    statuses: ids.flatMap((id) => {
      const status = seen.get(id)
      return status === undefined ? [] : [statusJson(id, status)]
    }),
    text: summary(seen),
  }
}

const isOver = (status: MessageStatus | undefined): boolean =>
  status === 'not-found' || (status !== undefined && hasOutcome(status) && (isFinal(status.code) || isUnknown(status)))

const isUnknown = (status: MessageStatus): boolean => typeof status === 'object' && status.code === OUTCOME.unknown

const statusJson = (id: MessageId, message: MessageStatus): Json => {
  const { status, code, meaning } = statusOf(message)
  const [at, final] = hasOutcome(message) ? [message.at, isFinal(message.code)] : [undefined, false]
  return { message: id, status, statusCode: code, meaning, final, since: timeJson(at) }
}

function summary(seen: ReadonlyMap<MessageId, MessageStatus>): string {
  const counts = new Map<string, number>()
  for (const status of seen.values()) counts.set(wordOf(status), (counts.get(wordOf(status)) ?? 0) + 1)
  return [...counts].map(([word, count]) => `${count} ${word}`).join('; ')
}

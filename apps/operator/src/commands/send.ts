import { formatCredits, type AccountId, type Instant, type Refusal, type SentRecipient } from '@gateway/core'
import type { Command } from 'commander'
import { readAccountId, readMinute, readSeconds } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Context, type Run } from '../context.ts'
import type { Json } from '../output.ts'
import { creditsJson, timeJson, timeText } from '../show.ts'
import { watchMessages } from '../watch-messages.ts'

interface Options {
  readonly account: AccountId
  readonly to: readonly string[]
  readonly text: string
  readonly at?: Instant
  readonly wait?: true
  readonly timeout: number
}

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

const splitNumbers = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...text.split(/[,;\s]+/).filter((number) => number !== ''),
]

export const send = (run: Run): Command =>
  command('send', 'send a text, charged to an account like any other')
    .requiredOption('--account <id>', 'the sending account', readAccountId)
    .requiredOption('--to <numbers>', "one or more numbers, separated by ','", splitNumbers)
    .requiredOption('--text <text>', 'the text')
    .option('--at <time>', 'when to send: CCYYMMDDHHmm at GMT+2', readMinute)
    .option('--wait', 'show each state of each message until all are final')
    .option('--timeout <seconds>', 'wait no longer than this', readSeconds, 300)
    .action((options: Options) => run((context) => sendText(context, options)))

async function sendText(context: Context, { account: id, to, text, at, wait, timeout }: Options): Promise<void> {
  const { backOffice, gateway, output } = context
  const found = await backOffice.findAccount(id)
  if (found === undefined) throw new Refused(`There is no account ${id}.`)
  if (to.length === 0) throw new Refused('--to names no number.', 2)
  const results = await gateway.sendMessages(found.account, [{ text, recipients: to, scheduled: at }])
  if (results === 'overloaded') throw new Refused('The gateway is overloaded; nothing was sent or charged. Try again.')

  const recipients = results.flat()
  const ids = recipients.flatMap((recipient) => ('id' in recipient ? [recipient.id] : []))
  const sent = { account: id, recipients: recipients.map(recipientJson) }
  if (!wait) output.result(sent, recipients.map(recipientText).join('\n'))
  else {
    for (const recipient of recipients) output.note(recipientText(recipient))
    const watched = await watchMessages(context, found.account, ids, timeout)
    output.result({ ...sent, statuses: watched.statuses }, watched.text)
    if (!watched.allFinal) throw new Refused(`Not all were final within ${timeout} s.`)
  }
  if (ids.length === 0) throw new Refused('Nothing was accepted.')
}

const recipientJson = (recipient: SentRecipient): Json =>
  'id' in recipient
    ? { number: recipient.number, id: recipient.id, cost: creditsJson(recipient.cost), due: timeJson(recipient.due) }
    : { number: recipient.number, refused: recipient.refused }

const recipientText = (recipient: SentRecipient): string => {
  if (!('id' in recipient)) return `${recipient.number}: refused, ${WORDS[recipient.refused]}`
  const when = recipient.due === undefined ? '' : `, due ${timeText(recipient.due)} (GMT+2)`
  return `${recipient.number}: message ${recipient.id}, ${formatCredits(recipient.cost)} credits${when}`
}

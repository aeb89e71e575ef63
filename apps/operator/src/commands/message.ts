import { formatCredits } from '@gateway/core/credits'
import {
  tracedCredits,
  whyWaiting,
  type FoundMessage,
  type FoundLocation,
  type MessageId,
  type MessageReference,
  type WhichMessages,
  type Msisdn,
} from '@gateway/core/messages'
import {
  readAccount,
  readFrom,
  readLimit,
  readMessageId,
  readMessageReference,
  readStoredNumber,
  readTo,
  type Moment,
  type AccountName,
} from '../arguments.ts'
import { command, Refused, yesOption, type Run } from '../command.ts'
import type { Json, Row } from '../output.ts'
import {
  creditsJson,
  outcomeText,
  sentCreditsCells,
  sentCreditsHead,
  sentCreditsJson,
  timeJson,
  timeText,
} from '../show.ts'
import { partJson, partText } from '../trace/part-text.ts'
import { traceJson } from '../trace/trace-json.ts'
import { traceText } from '../trace/trace-text.ts'

interface FindOptions {
  readonly number?: Msisdn
  readonly reference?: MessageReference
  readonly account?: AccountName
  readonly from?: Moment
  readonly to?: Moment
  readonly after?: MessageId
  readonly limit: number
}

const head = ['ID', 'ACCOUNT', 'DUE (GMT+2)', ...sentCreditsHead, 'STATE']

export const messageFind = (run: Run) =>
  command(
    'find',
    'find waiting and finished messages by number or reference, latest due first; texts are never shown',
    "gateway message find --number 27825550101 --from 7d\n  gateway message find --reference 'order 7'",
  )
    .option('--number <number>', 'in international form', readStoredNumber)
    .option('--reference <text>', 'the reference that the account set', readMessageReference)
    .option('--account <account>', 'only this account', readAccount)
    .option(
      '--from <time>',
      'only messages due since: a day (GMT+2), a time CCYYMMDDHHmm, or a number of days ago (7d)',
      readFrom,
    )
    .option('--to <time>', 'only messages due up to the end of that day, or before that time', readTo)
    .option('--limit <count>', 'maximum number of rows, up to 1000', readLimit, 100)
    .option('--after <id>', 'continue after this message, the last one of the previous page', readMessageId)
    .action((options: FindOptions) => {
      const which = whichOf(options)
      return run(async ({ accountId, backOffice, ports, output }) => {
        const now = ports.clock.now()
        const { account: name, limit, after } = options
        const account = name && (await accountId(name))
        const search = { ...which, account, limit, after, from: options.from?.(now), to: options.to?.(now) }
        const found = await output.during('Searching the messages', backOffice.queries.findMessages(search))
        if (found === 'no-such-message') throw new Refused(`There is no message ${options.after} to continue after.`)
        const next = found.more ? (found.messages.at(-1)?.id ?? null) : null
        await output.rows(head, found.messages.map(row), () => ({ json: { next } }))
        if (next !== null) output.note(`There are more messages: --after ${next}`)
      })
    })

function whichOf({ number, reference }: FindOptions): WhichMessages {
  if (number !== undefined) return { number, reference }
  if (reference !== undefined) return { reference }
  throw new Refused('Use --number or --reference.', 2)
}

const row = (message: FoundMessage): Row => ({
  json: {
    id: message.id,
    account: message.account,
    from: message.from ?? null,
    number: message.number,
    reference: message.reference ?? null,
    category: message.options.category ?? null,
    confirmation: message.confirmation,
    accepted: timeJson(message.accepted),
    due: timeJson(message.due),
    scheduledTime: message.scheduled ? timeJson(message.due) : null,
    cost: creditsJson(message.cost),
    ...sentCreditsJson(tracedCredits(message)),
    ...placeJson(message.place),
  },
  cells: [
    String(message.id),
    String(message.account),
    timeText(message.due),
    ...sentCreditsCells(tracedCredits(message)),
    `${placeText(message.place)}${message.confirmation ? ', confirms an opt-out' : ''}`,
  ],
})

const placeJson = (place: FoundLocation): { readonly [key: string]: Json } => ({
  place: place.place,
  statusCode: place.place === 'decided' ? place.code : null,
  since: place.place === 'decided' ? timeJson(place.at) : null,
  until: place.place === 'postponed' ? timeJson(place.until) : null,
})

function placeText(place: FoundLocation): string {
  if (place.place === 'decided') return `${outcomeText(place.code)}, ${timeText(place.at)}`
  if (place.place === 'postponed') return `refused for now, waits until ${timeText(place.until)}`
  if (place.place === 'claimed')
    return place.marked ? 'at a carrier, may have been submitted' : 'claimed, not submitted'
  if (place.place === 'in-doubt') return 'in doubt, waits for a decision'
  return place.place === 'queue' ? 'in the queue' : 'scheduled'
}

export const messageExplain = (run: Run) =>
  command('explain', 'show what happened to a message; its text is never shown', 'gateway message explain 20481')
    .argument('<id>', "the message's id", readMessageId)
    .action((id: MessageId) =>
      run(async ({ backOffice, output, ports }) => {
        const trace = await backOffice.queries.explainMessage(id)
        if (trace === undefined) {
          const part = await backOffice.queries.explainLonePart(id)
          if (part === undefined)
            throw new Refused(`There is no message ${id}. The id was never assigned, or the history was dropped.`)
          output.one(partJson(part), partText(part))
          return
        }
        const now = ports.clock.now()
        const waiting = whyWaiting(trace, await backOffice.queries.listCarriers())
        output.one(traceJson(trace, now, waiting), traceText(trace, now, waiting))
      }),
    )

export const messageCancel = (run: Run) =>
  command(
    'cancel',
    'cancel a scheduled message that no dispatcher has claimed and return its credits, as its account can',
    'gateway message cancel 20481',
  )
    .argument('<id>', "the message's id", readMessageId)
    .option(...yesOption)
    .action((id: MessageId, options: { readonly yes?: true }) =>
      run(async ({ backOffice, confirm, output }) => {
        await confirm(`Cancel message ${id}? It is deleted, and its credits are returned.`, options)
        const cancelled = await backOffice.commands.cancelMessage(id)
        if (cancelled === undefined) {
          throw new Refused(`There is no message ${id}. The id was never assigned, or the history was dropped.`)
        }
        const { account, deletion } = cancelled
        if (deletion.outcome === 'not-found') throw new Refused(`Message ${id} is already deleted or too old.`)
        if (deletion.outcome === 'sent') {
          throw new Refused(
            `Message ${id} cannot be cancelled, because it was not scheduled or a dispatcher has claimed it.`,
          )
        }
        output.result(
          { message: id, account, amount: creditsJson(deletion.refunded) },
          `Message ${id} is cancelled. ${formatCredits(deletion.refunded)} credits were returned to account ${account}.`,
        )
      }),
    )

interface RefundOptions {
  readonly why: string
  readonly account?: AccountName
}

const WORDS = {
  'no-reason': () => 'State with --why why the credits are returned.',
  'no-such-message': (id: MessageId) =>
    `There is no message ${id}. The id was never assigned, or the history was dropped.`,
  'other-account': (id: MessageId) => `Message ${id} belongs to another account.`,
  waiting: (id: MessageId) =>
    `Message ${id} is waiting. Its credits are returned automatically if no carrier accepts it. See gateway message cancel.`,
  'refunded-already': (id: MessageId) =>
    `Message ${id} already has its credits back. See gateway message explain ${id}.`,
  'nothing-charged': (id: MessageId) => `Message ${id} was not charged.`,
} as const

export const messageRefund = (run: Run) =>
  command(
    'refund',
    'return the credits of a message to the account that was charged, at most once',
    "gateway message refund 20481 --why 'complaint 118'",
  )
    .argument('<id>', "the message's id", readMessageId)
    .requiredOption('--why <text>', 'the reason, kept in the ledger')
    .option('--account <account>', 'only if the message belongs to this account', readAccount)
    .action((id: MessageId, { why, account: name }: RefundOptions) =>
      run(async ({ accountId, backOffice, output }) => {
        const of = name && (await accountId(name))
        const refunded = await backOffice.commands.refundMessage(id, why, of)
        if (typeof refunded === 'string') throw new Refused(WORDS[refunded](id))
        const { account, amount, balance } = refunded
        output.result(
          { message: id, account, amount: creditsJson(amount), balance: creditsJson(balance) },
          `${formatCredits(amount)} credits of message ${id} were returned. Account ${account} now has ${formatCredits(balance)} credits.`,
        )
      }),
    )

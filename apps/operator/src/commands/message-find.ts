import {
  formatCredits,
  type AccountId,
  type FoundMessage,
  type FoundLocation,
  type MessageId,
  type Msisdn,
} from '@gateway/core'
import { readAccountId, readFrom, readLimit, readMessageId, readNumber, readTo, type Moment } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { outcomeText } from '../outcome-words.ts'
import type { Json, Row } from '../output.ts'
import { creditsJson, timeJson, timeText } from '../show.ts'

interface Options {
  readonly number: Msisdn
  readonly account?: AccountId
  readonly from?: Moment
  readonly to?: Moment
  readonly after?: MessageId
  readonly limit: number
}

const head = ['ID', 'ACCOUNT', 'DUE (GMT+2)', 'CREDITS', 'STATE']

export const messageFind = (run: Run) =>
  command(
    'find',
    'find the messages to a number, waiting or finished, the latest due first; never their texts',
    'gateway message find --number 27825550101 --from 7d',
  )
    .requiredOption('--number <number>', 'in international form', readNumber)
    .option('--account <id>', 'only of this account', readAccountId)
    .option(
      '--from <time>',
      'only what was due from then on: a day (GMT+2), a time CCYYMMDDHHmm, or days ago (7d)',
      readFrom,
    )
    .option('--to <time>', 'only what was due up to the end of that day, or before that time', readTo)
    .option('--limit <count>', 'at most so many, up to 1000', readLimit, 100)
    .option('--after <id>', 'go on after this message, the last one of the page before', readMessageId)
    .action((options: Options) =>
      run(async ({ backOffice, ports, output }) => {
        const now = ports.clock.now()
        const wanted = { ...options, from: options.from?.(now), to: options.to?.(now) }
        const found = await output.during('Looking through the messages', backOffice.findMessages(wanted))
        if (found === 'no-such-message') throw new Refused(`There is no message ${options.after} to go on after.`)
        const next = found.more ? (found.messages.at(-1)?.id ?? null) : null
        await output.rows(head, found.messages.map(row), () => ({ json: { next } }))
        if (next !== null) output.note(`There are more: --after ${next}`)
      }),
    )

const row = ({ place, ...message }: FoundMessage): Row => ({
  json: {
    id: message.id,
    account: message.account,
    from: message.from ?? null,
    confirmation: message.confirmation,
    accepted: timeJson(message.accepted),
    due: timeJson(message.due),
    scheduledTime: message.scheduled ? timeJson(message.due) : null,
    cost: creditsJson(message.cost),
    ...placeJson(place),
  },
  cells: [
    String(message.id),
    String(message.account),
    timeText(message.due),
    formatCredits(message.cost),
    `${placeText(place)}${message.confirmation ? ', confirms an opt-out' : ''}`,
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
  if (place.place === 'claimed') return place.marked ? 'at a carrier, may have left' : 'claimed, has not left'
  return place.place === 'queue' ? 'in the queue' : 'scheduled'
}

import { fillIn } from '@gateway/core/bulk-sends'
import type { Msisdn } from '@gateway/core/messages'
import {
  isObstructed,
  type ErasedNumber,
  type Erasure,
  type StoredContact,
  type StoredInbound,
  type StoredListRow,
  type MessageWithText,
  type StoredSuppression,
  type ErasureObstacles,
  type NumberData,
} from '@gateway/core/personal-data'
import type { Instant } from '@gateway/core/time'
import type { KeySettings } from '@gateway/core/webhooks'
import { readStoredNumber } from '../arguments.ts'
import { command, Refused, yesOption, type Run, type Context } from '../command.ts'
import type { Json, Row } from '../output.ts'
import { counted, creditsJson, timeJson, timeText } from '../show.ts'
import { despiteKeyText, withKeyInUse } from '../webhook-words.ts'

const exportHead = ['DATA', 'ACCOUNT', 'TIME (GMT+2)', 'ID', 'TEXT']

export const numberExport = (run: Run) =>
  command(
    'export',
    'show the data stored about the owner of a number, with all texts, in all accounts',
    'gateway number export 27825550101 --json > 27825550101.json',
  )
    .argument('<number>', 'in international form', readStoredNumber)
    .action((number: Msisdn) =>
      run(async ({ backOffice, output }) => {
        const data = await output.during('Searching the stored data', backOffice.commands.exportNumber(number))
        await output.rows(exportHead, rowsOf(number, data))
      }),
    )

function* rowsOf(number: Msisdn, { messages, inbound, contacts, listed, suppressions }: NumberData): Iterable<Row> {
  for (const message of messages) yield messageRow(number, message)
  for (const message of inbound) yield inboundRow(number, message)
  for (const contact of contacts) yield contactRow(number, contact)
  for (const row of listed) yield listRow(number, row)
  for (const suppression of suppressions) yield suppressionRow(number, suppression)
}

interface Shown {
  readonly data: string
  readonly account: number | undefined
  readonly time?: Instant | undefined
  readonly id?: number
  readonly text?: string | undefined
}

const rowOf = ({ data, account, time, id, text }: Shown, more: { readonly [name: string]: Json }): Row => ({
  json: {
    ...{ data, id: id ?? null, account: account ?? null, time: timeJson(time) ?? null, text: text ?? null },
    ...more,
  },
  cells: [data, String(account ?? ''), time === undefined ? '' : timeText(time), String(id ?? ''), text ?? ''],
})

const messageRow = (number: Msisdn, { id, account, from, due, cost, reference, place, text }: MessageWithText): Row =>
  rowOf(
    { data: 'message', account, time: due, id, text },
    {
      ...{ from: from ?? null, to: number, cost: creditsJson(cost), reference: reference ?? null },
      statusCode: place.place === 'decided' ? place.code : -1,
    },
  )

const inboundRow = (number: Msisdn, { id, account, to, at, text }: StoredInbound): Row =>
  rowOf({ data: 'arrival', account, time: at, id, text }, { from: number, to: to ?? null })

const contactRow = (number: Msisdn, { account, address }: StoredContact): Row =>
  rowOf({ data: 'contact', account }, { from: address, to: number })

const listRow = (number: Msisdn, { send, row }: StoredListRow): Row =>
  rowOf(
    {
      ...{ data: 'list row', account: send.account, time: send.created, id: send.id },
      text: fillIn(send.text, send.columns, row),
    },
    { to: number, values: row.fields, state: send.state, refusal: row.refused ?? null },
  )

const suppressionRow = (number: Msisdn, { account, kind, since, text }: StoredSuppression): Row =>
  rowOf({ data: kind, account, time: since, text }, { number })

interface EraseOptions extends KeySettings {
  readonly dryRun?: true
  readonly yes?: true
}

export const numberErase = (run: Run) =>
  command(
    'erase',
    'erase the data stored about the owner of a number, except opt-outs and blocks; this cannot be undone',
    `gateway number erase 27825550101 --dry-run
  gateway number erase 27825550101

Numbers and texts are replaced. Messages, their states and all credits stay. Nothing is erased while
a message to the number waits, a receipt may still arrive (3 days), or a list with the number is
being sent. Backups, log files, and data of carriers and customers are not erased.`,
  )
    .argument('<number>', 'in international form', readStoredNumber)
    .option('--dry-run', 'show what is stored without erasing it')
    .option('--despite-key', despiteKeyText)
    .option(...yesOption)
    .action((number: Msisdn, { dryRun, yes, ...settings }: EraseOptions) =>
      run(async (context) => {
        if (dryRun) return printStored(context, number)
        await context.confirm(`Erase the data stored about ${number}? This cannot be undone.`, { ...(yes && { yes }) })
        await erase(context, number, settings)
      }),
    )

async function printStored({ backOffice, output }: Context, number: Msisdn): Promise<void> {
  const { messages, inbound, contacts, listed, suppressions } = await backOffice.commands.exportNumber(number)
  const obstacles = await backOffice.queries.erasureObstacles(number)
  const counts = {
    ...{ messages: messages.length, arrivals: inbound.length, contacts: contacts.length, listRows: listed.length },
  }
  output.result(
    { changed: false, number, ...counts, suppressions: suppressions.length, ...obstacles },
    [
      `Stored about ${number}: ${countedData({ messages: messages.length, inbound: inbound.length, contacts: contacts.length })}, ${counted(listed.length, 'row')} in lists of bulk sends.`,
      `Opt-outs and blocks, which an erasure does not remove: ${suppressions.length}.`,
      isObstructed(obstacles)
        ? `${obstaclesText(obstacles)} Nothing was changed.`
        : 'The number can be erased now. Nothing was changed.',
    ].join('\n'),
  )
}

async function erase({ backOffice, actor, output }: Context, number: Msisdn, settings: KeySettings): Promise<void> {
  const erasing = backOffice.commands.eraseNumber(number, actor.by, settings)
  const erased = await output.during('Erasing', withKeyInUse(erasing))
  if ('obstacles' in erased)
    throw new Refused(`${obstaclesText(erased.obstacles)} Nothing was erased. Try again later.`)
  const { messages, inbound, contacts, events } = erased.erased
  output.result(
    {
      ...{ changed: true, erasure: erased.erasure, messages, arrivals: inbound, contacts, events },
      ...{ suppressions: erased.suppressions, ...erased.remaining },
    },
    text(number, erased),
  )
}

function text(number: Msisdn, { erasure, erased, remaining: rest, suppressions }: ErasedNumber): string {
  const { messages, inbound, contacts, events } = erased
  return [
    `${number} is erased from ${countedData({ messages, inbound, contacts })}, and from events in ${counted(events, 'place')}.`,
    ...(isObstructed(rest) ? [`${obstaclesText(rest)} They arrived during the erasure. Erase again later.`] : []),
    ...(suppressions === 0 ? [] : [`Opt-outs and blocks that remain, with the number: ${suppressions}.`]),
    `This is erasure ${erasure}. See gateway number erasures.`,
  ].join('\n')
}

const countedData = ({ messages, inbound, contacts }: Omit<ErasedNumber['erased'], 'events'>): string =>
  [counted(messages, 'message'), counted(inbound, 'arrival'), counted(contacts, 'contact')].join(', ')

const obstaclesText = ({ waiting, awaitingReceipt, rowsBeingSent }: ErasureObstacles): string =>
  [
    ...(waiting === 0
      ? []
      : [`${counted(waiting, 'message')} to this number ${waiting === 1 ? 'waits' : 'wait'} to be sent.`]),
    ...(awaitingReceipt === 0
      ? []
      : [`${counted(awaitingReceipt, 'message')} to this number may still get a receipt.`]),
    ...(rowsBeingSent === 0
      ? []
      : [
          `${counted(rowsBeingSent, 'row')} with this number ${rowsBeingSent === 1 ? 'is' : 'are'} in lists that are being sent.`,
        ]),
  ].join(' ')

const erasuresHead = ['ID', 'BEGUN (GMT+2)', 'ENDED (GMT+2)', 'BY', 'MESSAGES', 'ARRIVALS', 'CONTACTS', 'EVENTS']

export const numberErasures = (run: Run) =>
  command(
    'erasures',
    'list past erasures, latest first, without their numbers',
    'gateway number erasures --number 27825550101',
  )
    .option('--number <number>', 'only erasures of this number', readStoredNumber)
    .action(({ number }: { readonly number?: Msisdn }) =>
      run(async ({ backOffice, output }) => {
        await output.rows(erasuresHead, (await backOffice.queries.listErasures(number)).map(row))
      }),
    )

const row = ({ id, digest, by, begun, ended, erased }: Erasure): Row => ({
  json: {
    ...{ id, numberDigest: digest, doneBy: by, started: timeJson(begun), ended: timeJson(ended) ?? null },
    ...{ messages: erased.messages, arrivals: erased.inbound, contacts: erased.contacts, events: erased.events },
  },
  cells: [
    ...[String(id), timeText(begun), ended === undefined ? 'not ended' : timeText(ended), by],
    ...[erased.messages, erased.inbound, erased.contacts, erased.events].map(String),
  ],
})

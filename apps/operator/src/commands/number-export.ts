import type { HeldContact, HeldInbound, HeldMessage, HeldSuppression, Instant, Msisdn, NumberData } from '@gateway/core'
import { readNumber } from '../arguments.ts'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import type { Json, Row } from '../output.ts'
import { creditsJson, timeJson, timeText } from '../show.ts'

const head = ['DATA', 'ACCOUNT', 'TIME (GMT+2)', 'ID', 'TEXT']

export const numberExport = (run: Run) =>
  command(
    'export',
    'show what is stored of the owner of a number, with all texts, in every account',
    'gateway number export 27825550101 --json > 27825550101.json',
  )
    .argument('<number>', 'in international form', readNumber)
    .action((number: Msisdn) =>
      run(async ({ backOffice, output }) => {
        const data = await output.during('Looking through all that is stored', backOffice.exportNumber(number))
        await output.rows(head, rowsOf(number, data))
      }),
    )

function* rowsOf(number: Msisdn, { messages, inbound, contacts, suppressions }: NumberData): Iterable<Row> {
  for (const message of messages) yield messageRow(number, message)
  for (const message of inbound) yield inboundRow(number, message)
  for (const contact of contacts) yield contactRow(number, contact)
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

const messageRow = (number: Msisdn, { id, account, from, due, cost, place, text }: HeldMessage): Row =>
  rowOf(
    { data: 'message', account, time: due, id, text },
    {
      ...{ from: from ?? null, to: number, cost: creditsJson(cost) },
      statusCode: place.place === 'decided' ? place.code : -1,
    },
  )

const inboundRow = (number: Msisdn, { id, account, to, at, text }: HeldInbound): Row =>
  rowOf({ data: 'arrival', account, time: at, id, text }, { from: number, to: to ?? null })

const contactRow = (number: Msisdn, { account, address }: HeldContact): Row =>
  rowOf({ data: 'contact', account }, { from: address, to: number })

const suppressionRow = (number: Msisdn, { account, kind, since, text }: HeldSuppression): Row =>
  rowOf({ data: kind, account, time: since, text }, { number })

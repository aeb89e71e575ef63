import { unreadKindOf, type CarrierId, type StoredUnreadReceipt, type UnmatchedReceipt } from '@gateway/core/dispatch'
import { readCarrier } from '../arguments.ts'
import { command, Refused, type Run } from '../command.ts'
import { mapped, type Row } from '../output.ts'
import { outcomeText, timeJson, timeText } from '../show.ts'

export const carrierReceipts = (run: Run) =>
  command(
    'receipts',
    'list receipts, binary messages and PDUs that could not be read, or receipts that match no message',
    'gateway carrier receipts vodacom --unread',
  )
    .argument('[name]', 'the name of the carrier; default: all carriers', readCarrier)
    .option(
      '--unread',
      'items that could not be read; the gateway tries to read them again whenever the carrier starts',
    )
    .option('--unmatched', 'receipts that match no message; after a restore they show what was sent since the backup')
    .action((carrier: CarrierId | undefined, { unread, unmatched }: Options) =>
      run(async ({ backOffice, output }) => {
        if ((unread === true) === (unmatched === true)) throw new Refused('Use either --unread or --unmatched.', 2)
        if (unread === true)
          return output.rows(
            ['AT (GMT+2)', 'CARRIER', 'KIND', 'NUMBER', 'CARRIER ID', 'TEXT'],
            mapped(backOffice.queries.listUnreadReceipts(carrier), row),
          )
        const receipts = await backOffice.queries.listUnmatchedReceipts(unmatchedMax)
        return output.rows(
          ['AT (GMT+2)', 'CARRIER', 'NUMBER', 'CARRIER ID', 'SAYS', 'WAITING'],
          receipts.filter((one) => carrier === undefined || one.carrier === carrier).map(unmatchedRow),
        )
      }),
    )

interface Options {
  readonly unread?: true
  readonly unmatched?: true
}

const unmatchedMax = 100_000
/** Maximum hexadecimal digits of a PDU in a table. JSON has all stored digits. */
const hexShownMax = 120

const unmatchedRow = ({ carrier, reference, code, number, at, waiting }: UnmatchedReceipt): Row => ({
  json: {
    time: timeJson(at),
    carrier,
    number: number ?? null,
    carrierId: reference,
    statusCode: code,
    waitingMessages: waiting,
  },
  cells: [timeText(at), carrier, number ?? '', reference, outcomeText(code), waiting.join(' ')],
})

function row(receipt: StoredUnreadReceipt): Row {
  const { carrier, reference, number, text, pdu, at } = receipt
  const kind = unreadKindOf(receipt)
  const shown = kind === 'pdu' ? pdu.slice(0, hexShownMax) : text
  return {
    json: { time: timeJson(at), carrier, kind, number: number ?? null, carrierId: reference ?? null, text, pdu },
    cells: [timeText(at), carrier, kind, number ?? '', reference ?? '', shown],
  }
}

import { unreadKindOf, type CarrierId, type KeptUnreadReceipt, type UnmatchedReceipt } from '@gateway/core/dispatch'
import { readCarrier } from '../arguments.ts'
import { command, Refused, type Run } from '../command.ts'
import { mapped, type Row } from '../output.ts'
import { outcomeText, timeJson, timeText } from '../show.ts'

export const carrierReceipts = (run: Run) =>
  command(
    'receipts',
    'list what could not be read: receipts, binary messages, PDUs; or receipts that fit no message',
    'gateway carrier receipts vodacom --unread',
  )
    .argument('[name]', 'the name of the carrier; without it those of all', readCarrier)
    .option('--unread', 'what could not be read; it is read again whenever the carrier begins')
    .option('--unmatched', 'those that fit no message; after a restore they name what was sent since the backup')
    .action((carrier: CarrierId | undefined, { unread, unmatched }: Options) =>
      run(async ({ backOffice, output }) => {
        if ((unread === true) === (unmatched === true)) throw new Refused('Say --unread or --unmatched.', 2)
        if (unread === true)
          return output.rows(
            ['AT (GMT+2)', 'CARRIER', 'KIND', 'NUMBER', 'CARRIER ID', 'TEXT'],
            mapped(backOffice.listUnreadReceipts(carrier), row),
          )
        const receipts = await backOffice.listUnmatchedReceipts(unmatchedMax)
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
/** Maximum hexadecimal digits of a PDU in a table; JSON has all that are kept. */
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

function row(kept: KeptUnreadReceipt): Row {
  const { carrier, reference, number, text, pdu, at } = kept
  const kind = unreadKindOf(kept)
  const shown = kind === 'pdu' ? pdu.slice(0, hexShownMax) : text
  return {
    json: { time: timeJson(at), carrier, kind, number: number ?? null, carrierId: reference ?? null, text, pdu },
    cells: [timeText(at), carrier, kind, number ?? '', reference ?? '', shown],
  }
}

import type { CarrierId, KeptUnreadReceipt } from '@gateway/core'
import { readCarrier } from '../arguments.ts'
import { command, type Run } from '../command.ts'
import { mapped, type Row } from '../output.ts'
import { timeJson, timeText } from '../show.ts'

export const carrierReceipts = (run: Run) =>
  command(
    'receipts',
    'list receipts that could not be read, and binary messages, the oldest first; receiptPattern reads receipts',
    'gateway carrier receipts vodacom --unread',
  )
    .argument('[name]', 'the name of the carrier; without it those of all', readCarrier)
    .requiredOption('--unread', 'those that could not be read')
    .action((carrier: CarrierId | undefined) =>
      run(({ backOffice, output }) =>
        output.rows(
          ['AT (GMT+2)', 'CARRIER', 'KIND', 'NUMBER', 'CARRIER ID', 'TEXT'],
          mapped(backOffice.listUnreadReceipts(carrier), row),
        ),
      ),
    )

function row({ carrier, reference, number, text, pdu, isMessage, at }: KeptUnreadReceipt): Row {
  const kind = isMessage ? 'binary' : 'receipt'
  return {
    json: { time: timeJson(at), carrier, kind, number: number ?? null, carrierId: reference ?? null, text, pdu },
    cells: [timeText(at), carrier, kind, number ?? '', reference ?? '', text],
  }
}

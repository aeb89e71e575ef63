import type { CarrierId, KeptUnreadReceipt } from '@gateway/core'
import { readCarrier } from '../arguments.ts'
import { command, type Run } from '../command.ts'
import { mapped, type Row } from '../output.ts'
import { timeJson, timeText } from '../show.ts'

export const carrierReceipts = (run: Run) =>
  command(
    'receipts',
    'list the delivery receipts that could not be read, the oldest first; a receiptPattern of the carrier reads them',
    'gateway carrier receipts vodacom --unread',
  )
    .argument('[name]', 'the name of the carrier; without it those of all', readCarrier)
    .requiredOption('--unread', 'those that could not be read')
    .action((carrier: CarrierId | undefined) =>
      run(({ backOffice, output }) =>
        output.rows(
          ['AT (GMT+2)', 'CARRIER', 'NUMBER', 'CARRIER ID', 'TEXT'],
          mapped(backOffice.listUnreadReceipts(carrier), row),
        ),
      ),
    )

const row = ({ carrier, reference, number, text, pdu, at }: KeptUnreadReceipt): Row => ({
  json: { time: timeJson(at), carrier, number: number ?? null, carrierId: reference ?? null, text, pdu },
  cells: [timeText(at), carrier, number ?? '', reference ?? '', text],
})

import type { UnownedMessage } from '@gateway/core'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import { mapped, type Row } from '../output.ts'
import { timeJson, timeText } from '../show.ts'

export const arrivalsList = (run: Run) =>
  command(
    'list',
    'list what people wrote that belongs to no account: nobody had written to them, or not from there',
  ).action(() =>
    run(async ({ backOffice, output }) => {
      await output.rows(
        ['ID', 'CARRIER', 'FROM', 'TO', 'AT (GMT+2)', 'TEXT'],
        mapped(backOffice.listUnownedMessages(), row),
      )
    }),
  )

const row = ({ id, carrier, from, to, at, text }: UnownedMessage): Row => ({
  json: { id, carrier, from, to: to ?? null, time: timeJson(at), text },
  cells: [String(id), carrier, from, to ?? '', timeText(at), text],
})

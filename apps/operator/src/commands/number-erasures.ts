import type { Erasure, Msisdn } from '@gateway/core'
import { readNumber } from '../arguments.ts'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import type { Row } from '../output.ts'
import { timeJson, timeText } from '../show.ts'

const head = ['ID', 'BEGUN (GMT+2)', 'ENDED (GMT+2)', 'BY', 'MESSAGES', 'ARRIVALS', 'CONTACTS', 'EVENTS']

export const numberErasures = (run: Run) =>
  command(
    'erasures',
    'list the records of erasures, the latest first; none has a number',
    'gateway number erasures --number 27825550101',
  )
    .option('--number <number>', 'only those of this number', readNumber)
    .action(({ number }: { readonly number?: Msisdn }) =>
      run(async ({ backOffice, output }) => {
        await output.rows(head, (await backOffice.listErasures(number)).map(row))
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

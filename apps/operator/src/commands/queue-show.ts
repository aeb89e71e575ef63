import type { Instant, WaitingWork } from '@gateway/core'
import { command } from '../command.ts'
import type { Context, Run } from '../context.ts'
import type { Row } from '../output.ts'
import { durationText, timeJson, timeText } from '../show.ts'

const head = ['ACCOUNT', 'LANE', 'DUE', 'OLDEST DUE (GMT+2)', 'SCHEDULED', 'TO RETRY']

export const queueShow = (run: Run) =>
  command('show', 'show what waits to be sent, by account and lane (single: sends of up to 10 numbers)').action(() =>
    run(async ({ backOffice, output, ports }) => {
      const now = ports.clock.now()
      const total = { due: 0, oldestDue: undefined, scheduled: 0, postponed: 0 }
      await output.rows(head, rows(backOffice, total, now), () => ({
        json: { sums: workJson(total) },
        cells: ['all', '', ...workCells(total, now)],
      }))
    }),
  )

type Work = Omit<WaitingWork, 'account' | 'lane'>
type Total = { -readonly [Key in keyof Work]: Work[Key] }

async function* rows(backOffice: Context['backOffice'], total: Total, now: Instant): AsyncIterable<Row> {
  for await (const work of backOffice.showQueue()) {
    add(total, work)
    const { account, lane } = work
    yield { json: { account, lane, ...workJson(work) }, cells: [String(account), lane, ...workCells(work, now)] }
  }
}

function add(total: Total, { due, oldestDue, scheduled, postponed }: Work): void {
  total.due += due
  total.scheduled += scheduled
  total.postponed += postponed
  if (oldestDue !== undefined && oldestDue < (total.oldestDue ?? Infinity)) total.oldestDue = oldestDue
}

const workJson = ({ due, oldestDue, scheduled, postponed }: Work) => ({
  dueNow: due,
  oldestDue: timeJson(oldestDue),
  scheduled,
  toRetry: postponed,
})

const workCells = ({ due, oldestDue, scheduled, postponed }: Work, now: Instant): readonly string[] => [
  String(due),
  oldestDue === undefined ? '' : `${timeText(oldestDue)} (${durationText(now - oldestDue)})`,
  String(scheduled),
  String(postponed),
]

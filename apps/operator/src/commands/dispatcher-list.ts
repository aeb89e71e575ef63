import type { RunningDispatcher } from '@gateway/core'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import type { Row } from '../output.ts'
import { timeJson, timeText } from '../show.ts'

const head = ['ID', 'PROCESS', 'SINCE (GMT+2)', 'VERSION', 'LEASE UNTIL', 'BATCHES', 'CLAIMED', 'MARKED', 'CARRIERS']

export const dispatcherList = (run: Run) =>
  command('list', 'list the dispatchers that run, and what they have in flight').action(() =>
    run(async ({ backOffice, output }) => {
      const dispatchers = await backOffice.listDispatchers()
      await output.rows(head, dispatchers.map(row))
      if (dispatchers.length === 0) output.note('No dispatcher runs: nothing is sent.')
    }),
  )

function row({ id, since, version, place, leaseUntil, overdue, loads }: RunningDispatcher): Row {
  const sum = (counts: readonly number[]): string => String(counts.reduce((a, b) => a + b, 0))
  return {
    json: {
      id,
      since: timeJson(since),
      version: version ?? null,
      host: place?.host ?? null,
      pid: place?.pid ?? null,
      leaseUntil: timeJson(leaseUntil),
      leaseOver: overdue,
      carriers: loads.map(({ carrier, batches, messages, inDoubt }) => ({
        carrier,
        batches,
        claimed: messages,
        marked: inDoubt,
      })),
    },
    cells: [
      String(id),
      place === undefined ? '' : `${place.host}:${place.pid}`,
      since === undefined ? 'not known' : timeText(since),
      version ?? '',
      `${timeText(leaseUntil)}${overdue ? ' (over)' : ''}`,
      sum(loads.map(({ batches }) => batches)),
      sum(loads.map(({ messages }) => messages)),
      sum(loads.map(({ inDoubt }) => inDoubt)),
      loads.length < 2 ? loads.map(({ carrier }) => carrier).join() : byCarrier(loads),
    ],
  }
}

const byCarrier = (loads: RunningDispatcher['loads']): string =>
  loads.map(({ carrier, messages, inDoubt }) => `${carrier} ${messages} (${inDoubt} marked)`).join(', ')

import type { WaitingWork, RunningDispatcher } from '@gateway/core/fleet'
import type { Instant } from '@gateway/core/time'
import { command, type Context, type Run } from '../command.ts'
import type { Row } from '../output.ts'
import { durationText, timeJson, timeText } from '../show.ts'

const queueHead = ['ACCOUNT', 'LANE', 'DUE', 'OLDEST DUE (GMT+2)', 'SCHEDULED', 'TO RETRY']

export const queueShow = (run: Run) =>
  command('show', 'show the waiting messages by account and lane (single: sends of up to 10 numbers)')
    .option('--routes', 'show the due messages by route')
    .action(({ routes }: { readonly routes?: boolean }) => run(routes === true ? showRoutes : showAccounts))

async function showRoutes({ backOffice, output, ports }: Context): Promise<void> {
  const now = ports.clock.now()
  const waiting = await backOffice.queries.showRoutes()
  await output.rows(
    ['ROUTE', 'DUE', 'OLDEST DUE (GMT+2)'],
    waiting.map(({ route, due, oldestDue }) => ({
      json: { routeName: route ?? null, dueNow: due, oldestDue: timeJson(oldestDue) },
      cells: [route ?? '', String(due), dueText(oldestDue, now)],
    })),
  )
}

async function showAccounts({ backOffice, output, ports }: Context): Promise<void> {
  const now = ports.clock.now()
  const total = { due: 0, oldestDue: undefined, scheduled: 0, postponed: 0 }
  await output.rows(queueHead, rows(backOffice, total, now), () => ({
    json: { sums: workJson(total) },
    cells: ['all', '', ...workCells(total, now)],
  }))
}

type Work = Omit<WaitingWork, 'account' | 'lane'>
type Total = { -readonly [Key in keyof Work]: Work[Key] }

async function* rows(backOffice: Context['backOffice'], total: Total, now: Instant): AsyncIterable<Row> {
  for await (const work of backOffice.queries.showQueue()) {
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

const dueText = (oldest: Instant, now: Instant): string => `${timeText(oldest)} (${durationText(now - oldest)})`

const workCells = ({ due, oldestDue, scheduled, postponed }: Work, now: Instant): readonly string[] => [
  String(due),
  oldestDue === undefined ? '' : dueText(oldestDue, now),
  String(scheduled),
  String(postponed),
]

const dispatcherHead = [
  'ID',
  'PROCESS',
  'SINCE (GMT+2)',
  'VERSION',
  'LEASE UNTIL',
  'BATCHES',
  'CLAIMED',
  'MARKED',
  'CARRIERS',
]

export const dispatcherList = (run: Run) =>
  command('list', 'list the running dispatchers and their messages in flight').action(() =>
    run(async ({ backOffice, output }) => {
      const dispatchers = await backOffice.queries.listDispatchers()
      await output.rows(dispatcherHead, dispatchers.map(row))
      if (dispatchers.length === 0) output.note('No dispatcher runs, so nothing is sent.')
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

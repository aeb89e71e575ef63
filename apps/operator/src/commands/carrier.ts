import { boundSince, isConnected, type CarrierId, type CircuitStatus } from '@gateway/core/dispatch'
import type { PausedCarrier, PrefixFigures, ReportedCarrier } from '@gateway/core/fleet'
import { carrierJson } from '@gateway/wire'
import { command, Refused, type Run, type RunAlone } from '../command.ts'
import { printable, type Json, type Row } from '../output.ts'
import { counted, durationText, timeJson, timeText } from '../show.ts'

export const carrierList = (run: Run) =>
  command('list', 'list the carriers of every dispatcher and their state').action(() =>
    run(async ({ backOffice, output, ports }) => {
      const carriers = await backOffice.queries.listCarriers()
      await output.rows(carrierHead, carriers.map(carrierRow))
      if (carriers.length === 0) output.note('No dispatcher reports a carrier, so nothing is sent.')
      for (const pause of (await ports.fleet.state()).paused) output.note(`${pause.carrier} is ${pauseText(pause)}.`)
    }),
  )

export const carrierShow = (run: Run) =>
  command('show', 'show the state of a carrier in each dispatcher')
    .argument('<name>', 'the name of the carrier')
    .action((name: string) =>
      run(async ({ backOffice, output, ports }) => {
        const reports = (await backOffice.queries.listCarriers()).filter(({ carrier }) => carrier === name)
        if (reports.length === 0) throw new Refused(`No dispatcher reports a carrier ${name}.`)
        const now = ports.clock.now()
        const pause = (await ports.fleet.state()).paused.find(({ carrier }) => carrier === name)
        const figures = await backOffice.queries.carrierFigures(reports[0]?.carrier ?? (name as CarrierId))
        const text = reports.map((one) => carrierLines(one, now, pause)).join('\n\n')
        output.all(reports.map(reportJson), `${text}${figuresText(figures)}`, { figures: figures.map(figuresJson) })
      }),
    )

export const carrierCheck = (runAlone: RunAlone) =>
  command(
    'check',
    'check whether a file would be accepted as CARRIERS=file:FILE; needs the environment of the server, but no database',
    'gateway carrier check carriers.json',
  )
    .argument('<file>', 'the path of the file')
    .action((file: string) =>
      runAlone(async ({ output, variables }) => {
        const { readFileConfiguration } = await import('@gateway/carriers')
        const { carriers, routes } = await readFileConfiguration(file, variables).catch(refuse)
        const [ids, names] = [carriers.map(({ id }) => id), routes.map(({ name }) => name)]
        const also = names.length === 0 ? '' : ` and the routes ${names.join(', ')}`
        output.one(
          { carriers: ids.map((carrier) => ({ carrier })), routes: names.map((name) => ({ name })) },
          `Accepted: the carriers ${ids.join(', ')}${also}.`,
        )
      }),
    )

function refuse(problem: unknown): never {
  throw new Refused((problem as Error).message)
}

export const carrierHead = [
  ...['CARRIER', 'DISPATCHER', 'STATE', 'BOUND SINCE (GMT+2)', 'IN USE', 'PER SECOND'],
  ...['WAITING', 'RECEIPTS', 'MISSED', 'LAST ERROR'],
]

export const carrierRow = (report: ReportedCarrier): Row => {
  const { carrier, process, window, unanswered, status } = report
  const since = status && boundSince(status)
  return {
    json: reportJson(report),
    cells: [
      carrier,
      dispatcherText(process),
      stateText(report),
      timeText(since as Parameters<typeof timeText>[0]),
      inUseText(unanswered, window),
      status?.perSecond === undefined ? '' : status.perSecond.toFixed(1),
      String(status?.waiting ?? ''),
      String(status?.receipts.received ?? ''),
      String(status?.receipts.missed ?? ''),
      status?.lastError ?? '',
    ],
  }
}

export const reportJson = (report: ReportedCarrier): Json => ({
  ...carrierJson(report),
  host: report.process.host,
  pid: report.process.pid,
  toldAt: timeJson(report.reportedAt),
  stale: report.isStale,
})

/**
 * Formats the use of a window, such as `3 of 10`. If more submissions are outstanding because the window has just
 * shrunk, their number is also shown as the size.
 */
const inUseText = (unanswered: number, window: number): string => `${unanswered} of ${Math.max(unanswered, window)}`

const dispatcherText = ({ host, pid }: ReportedCarrier['process']): string => `${host}:${pid}`

const pauseText = ({ mode, since, by }: PausedCarrier): string => `${mode} since ${timeText(since)} by ${by}`

function stateText(report: ReportedCarrier): string {
  if (report.isStale) return 'stale'
  const { mode } = report
  if (mode === 'running') return linksText(report)
  const isBound = report.status !== undefined && report.status.links !== undefined && isConnected(report.status)
  if (mode === 'drained') return isBound ? `${linksText(report)}, draining` : 'drained'
  return `${linksText(report)}, paused`
}

function linksText({ status }: ReportedCarrier): string {
  if (status === undefined) return 'up'
  const { links } = status
  const bound = links?.filter((link) => link.boundSince !== undefined).length
  const words = links === undefined ? 'up' : bound === 0 ? 'not bound' : `bound ${bound} of ${links.length}`
  const state = status.circuit?.state ?? 'closed'
  if (state !== 'closed') return `${words}, circuit ${state}`
  return status.isThrottled ? `${words}, throttled` : words
}

const REASON: Readonly<Record<NonNullable<CircuitStatus['reason']>, string>> = {
  silent: 'the carrier did not answer',
  failing: 'too many messages got no answer or a temporary refusal',
  'account-broken': 'the carrier refuses every message because of our account there',
}

function circuitText({ state, since, reason, detail, answerMilliseconds }: CircuitStatus): string {
  const cause = reason === undefined ? '' : `: ${REASON[reason]}${detail === undefined ? '' : ` (${detail})`}`
  const why = state === 'closed' ? '' : cause
  const answers = answerMilliseconds === undefined ? 'no answer yet' : `answers take ${answerMilliseconds} ms`
  return `${state} since ${timeText(since as ReportedCarrier['reportedAt'])}${why}; ${answers}`
}

const overflowText = (messages: number): string =>
  `${counted(messages, 'message')} since the start, because carriers of a better priority were full`

const boundsText = (bounds: CircuitStatus): string =>
  `opened after ${bounds.silentSeconds} s of silence or ${bounds.failuresPercent} % failures; ` +
  `slow from ${bounds.slowSeconds} s on; probed after ${bounds.probeSeconds} s to ${bounds.probeSecondsMax} s`

const figuresJson = ({ prefix, hour, day }: PrefixFigures) => ({ prefix, hour: { ...hour }, day: { ...day } })

const figuresHead = ['PREFIX', 'DELIVERED', 'FAILED', 'UNKNOWN', 'REFUSED']

/** Formats the figures of the last hour and the last day, over all dispatchers, as a table. */
function figuresText(figures: readonly PrefixFigures[]): string {
  if (figures.length === 0) return ''
  const rows = figures.map(({ prefix, hour, day }) => [
    prefix === '' ? 'none' : prefix,
    ...(['delivered', 'failed', 'unknown', 'refused'] as const).map((state) => `${hour[state]} / ${day[state]}`),
  ])
  const lines = [figuresHead, ...rows].map((cells) =>
    cells
      .map((cell) => cell.padEnd(18))
      .join('')
      .trimEnd(),
  )
  return `\n\nlast hour / last day, over all dispatchers\n${lines.join('\n')}`
}

/** Formats a carrier of one dispatcher as lines of a name and a value. */
export function carrierLines(report: ReportedCarrier, now: number, pause?: PausedCarrier): string {
  const { process, reportedAt, window, unanswered, status, overflowed } = report
  const links = status?.links?.map(
    ({ role, boundSince: at, inUse }) =>
      `  ${role.padEnd(12)} ${at === undefined ? 'not bound' : `bound since ${timeText(at as typeof reportedAt)}, ${inUse} in use`}`,
  )
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['dispatcher', dispatcherText(process)],
    [
      'reported',
      `${durationText(now - reportedAt)} ago${report.isStale ? ' (stale: the dispatcher has died or cannot reach the database)' : ''}`,
    ],
    ['state', stateText(report)],
    ['paused', pause && pauseText(pause)],
    ['window', `${inUseText(unanswered, window)} in use`],
    ['rate', status && (status.perSecond === undefined ? 'no limit' : `${status.perSecond.toFixed(1)} parts a second`)],
    ['waiting', status && String(status.waiting)],
    ['overflow', overflowed === undefined ? undefined : overflowText(overflowed)],
    ['circuit', status?.circuit && circuitText(status.circuit)],
    ['bounds', status?.circuit && boundsText(status.circuit)],
    [
      'receipts',
      status &&
        `${status.receipts.received} received, ${status.receipts.missed} missed, ${status.unreadable} unreadable`,
    ],
    ['form of ids', status?.links && (status.receipts.form ?? 'not known yet')],
    ...(status?.facts ?? []),
    ['last error', status && (status.lastError ?? 'none')],
  ]
  const shown = lines.flatMap(([name, text]) => (text === undefined ? [] : [`${name.padEnd(12)} ${printable(text)}`]))
  return [...shown, ...(links === undefined ? [] : ['links', ...links])].join('\n')
}

import type { CarrierId, CircuitStatus } from '@gateway/core/dispatch'
import type { HeldCarrier, PrefixFigures, ToldCarrier } from '@gateway/core/fleet'
import { boundSince, carrierJson } from '@gateway/wire'
import { command, Refused, type Run, type RunAlone } from '../command.ts'
import { printable, type Json, type Row } from '../output.ts'
import { counted, durationText, timeJson, timeText } from '../show.ts'

export const carrierList = (run: Run) =>
  command('list', 'list the carriers of every dispatcher, and how they are').action(() =>
    run(async ({ backOffice, output, ports }) => {
      const carriers = await backOffice.listCarriers()
      await output.rows(carrierHead, carriers.map(carrierRow))
      if (carriers.length === 0) output.note('No dispatcher tells of a carrier: nothing is sent.')
      for (const held of await ports.carrierModes.list()) output.note(`${held.carrier} is ${heldText(held)}.`)
    }),
  )

export const carrierShow = (run: Run) =>
  command('show', 'show all that is known of a carrier, for each dispatcher')
    .argument('<name>', 'the name of the carrier')
    .action((name: string) =>
      run(async ({ backOffice, output, ports }) => {
        const told = (await backOffice.listCarriers()).filter(({ carrier }) => carrier === name)
        if (told.length === 0) throw new Refused(`No dispatcher tells of a carrier ${name}.`)
        const now = ports.clock.now()
        const held = (await ports.carrierModes.list()).find(({ carrier }) => carrier === name)
        const figures = await backOffice.carrierFigures(told[0]?.carrier ?? (name as CarrierId))
        const text = told.map((one) => carrierLines(one, now, held)).join('\n\n')
        output.all(told.map(toldJson), `${text}${figuresText(figures)}`, { figures: figures.map(figuresJson) })
      }),
    )

export const carrierCheck = (runAlone: RunAlone) =>
  command(
    'check',
    'say whether a file would be accepted as CARRIERS=file:FILE; it needs the environment of the server, and no database',
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

export const carrierRow = (told: ToldCarrier): Row => {
  const { carrier, process, window, unanswered, status } = told
  const since = status && boundSince(status)
  return {
    json: toldJson(told),
    cells: [
      carrier,
      dispatcherText(process),
      stateText(told),
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

export const toldJson = (told: ToldCarrier): Json => ({
  ...carrierJson(told),
  host: told.process.host,
  pid: told.process.pid,
  toldAt: timeJson(told.toldAt),
  stale: told.isStale,
})

/** A window that has just shrunk holds what left before. */
const inUseText = (unanswered: number, window: number): string => `${unanswered} of ${Math.max(unanswered, window)}`

const dispatcherText = ({ host, pid }: ToldCarrier['process']): string => `${host}:${pid}`

const heldText = ({ mode, since, by }: HeldCarrier): string => `${mode} since ${timeText(since)} by ${by}`

function stateText(told: ToldCarrier): string {
  if (told.isStale) return 'stale'
  const { mode } = told
  if (mode === 'running') return linksText(told)
  const isBound = told.status?.links.some((link) => link.boundSince !== undefined) ?? false
  if (mode === 'drained') return isBound ? `${linksText(told)}, draining` : 'drained'
  return `${linksText(told)}, paused`
}

function linksText({ status }: ToldCarrier): string {
  if (status === undefined) return 'up'
  const bound = status.links.filter((link) => link.boundSince !== undefined).length
  const words = bound === 0 ? 'not bound' : `bound ${bound} of ${status.links.length}`
  const state = status.circuit?.state ?? 'closed'
  if (state !== 'closed') return `${words}, circuit ${state}`
  return status.isThrottled ? `${words}, throttled` : words
}

const REASON: Readonly<Record<NonNullable<CircuitStatus['reason']>, string>> = {
  silent: 'it answered nothing',
  failing: 'too much got no answer or was refused for now',
}

function circuitText({ state, since, reason, answerMilliseconds }: CircuitStatus): string {
  const why = state === 'closed' || reason === undefined ? '' : `: ${REASON[reason]}`
  const answers = answerMilliseconds === undefined ? 'no answer yet' : `answers take ${answerMilliseconds} ms`
  return `${state} since ${timeText(since as ToldCarrier['toldAt'])}${why}; ${answers}`
}

const overflowText = (messages: number): string =>
  `${counted(messages, 'message')} since the start, because carriers of a better priority were full`

const boundsText = (bounds: CircuitStatus): string =>
  `opened after ${bounds.silentSeconds} s of silence or ${bounds.failuresPercent} % failures; ` +
  `slow from ${bounds.slowSeconds} s on; probed after ${bounds.probeSeconds} s to ${bounds.probeSecondsMax} s`

const figuresJson = ({ prefix, hour, day }: PrefixFigures) => ({ prefix, hour: { ...hour }, day: { ...day } })

const figuresHead = ['PREFIX', 'DELIVERED', 'FAILED', 'UNKNOWN', 'REFUSED']

/** A table for the last hour and the last day, over all dispatchers. */
function figuresText(figures: readonly PrefixFigures[]): string {
  if (figures.length === 0) return ''
  const rows = figures.map(({ prefix, hour, day }) => [
    prefix === '' ? 'none' : prefix,
    ...(['delivered', 'failed', 'unknown', 'refused'] as const).map((what) => `${hour[what]} / ${day[what]}`),
  ])
  const lines = [figuresHead, ...rows].map((cells) =>
    cells
      .map((cell) => cell.padEnd(18))
      .join('')
      .trimEnd(),
  )
  return `\n\nlast hour / last day, over all dispatchers\n${lines.join('\n')}`
}

/** One carrier of one dispatcher, a line for each thing to know. */
export function carrierLines(told: ToldCarrier, now: number, held?: HeldCarrier): string {
  const { process, toldAt, window, unanswered, status, overflowed } = told
  const links = status?.links.map(
    ({ role, boundSince: at, inUse }) =>
      `  ${role.padEnd(12)} ${at === undefined ? 'not bound' : `bound since ${timeText(at as typeof toldAt)}, ${inUse} in use`}`,
  )
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['dispatcher', dispatcherText(process)],
    [
      'told',
      `${durationText(now - toldAt)} ago${told.isStale ? ': stale, the dispatcher has died or does not reach the database' : ''}`,
    ],
    ['state', stateText(told)],
    ['held', held && heldText(held)],
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
    ['form of ids', status && (status.receipts.form ?? 'not known yet')],
    ['last error', status && (status.lastError ?? 'none')],
  ]
  const shown = lines.flatMap(([name, text]) => (text === undefined ? [] : [`${name.padEnd(12)} ${printable(text)}`]))
  return [...shown, ...(links === undefined ? [] : ['links', ...links])].join('\n')
}

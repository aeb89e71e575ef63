import type { ToldCarrier } from '@gateway/core'
import { boundSince, carrierJson } from '@gateway/wire'
import { printable, type Json, type Row } from './output.ts'
import { durationText, timeJson, timeText } from './show.ts'

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
      `${unanswered} of ${window}`,
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

const dispatcherText = ({ host, pid }: ToldCarrier['process']): string => `${host}:${pid}`

function stateText({ status, isStale }: ToldCarrier): string {
  if (isStale) return 'stale'
  if (status === undefined) return 'up'
  const bound = status.links.filter((link) => link.boundSince !== undefined).length
  const words = bound === 0 ? 'not bound' : `bound ${bound} of ${status.links.length}`
  return status.isThrottled ? `${words}, throttled` : words
}

/** One carrier of one dispatcher, a line for each thing to know. */
export function carrierLines(told: ToldCarrier, now: number): string {
  const { process, toldAt, window, unanswered, status } = told
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
    ['window', `${unanswered} of ${window} in use`],
    ['rate', status && (status.perSecond === undefined ? 'no limit' : `${status.perSecond.toFixed(1)} parts a second`)],
    ['waiting', status && String(status.waiting)],
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

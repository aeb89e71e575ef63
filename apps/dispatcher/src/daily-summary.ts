import type { ProcessPlace } from '@gateway/core/dispatch'
import type { Overview } from '@gateway/core/fleet'
import { OUTCOME, type DailySum, type DailySums } from '@gateway/core/messages'
import {
  formatDate,
  gatewayDay,
  secondsAfter,
  startOfGatewayDay,
  type Clock,
  type GatewayDay,
} from '@gateway/core/time'
import type { WebhookClient, Webhooks } from '@gateway/core/webhooks'
import { repeat, type Log, type Repeated } from '@gateway/server'
import { failureOf } from './call-heartbeat.ts'

interface SummaryPorts {
  readonly dailySums: Pick<DailySums, 'byCarrier'>
  readonly overview: Pick<Overview, 'dispatchers' | 'routes'>
  readonly webhooks: Pick<Webhooks, 'totals'>
  readonly webhookClient: Pick<WebhookClient, 'push'>
  readonly clock: Clock
}

interface SummarySettings {
  readonly url: string
  readonly ports: SummaryPorts
  /** This process. If there are several dispatching processes, the process that registered first sends the summary. */
  readonly place: ProcessPlace
  readonly log: Log
  readonly pauseMilliseconds?: number
}

/** Time of day from which the summary of the day before is sent, in seconds after midnight of the gateway. */
const sendSeconds = 6 * 3600
const minuteMilliseconds = 60_000
/** Maximum number of tries; one a minute. */
const triesMax = 10
/** Maximum number of rows to count for each webhook. */
const webhookRowsMax = 1000

/** Returns the last day whose summary is due at this time. */
const dueDay = (clock: Clock): GatewayDay => (gatewayDay(secondsAfter(clock.now(), -sendSeconds)) - 1) as GatewayDay

/**
 * Posts a summary of each day to the URL, from 6:00 of the next day on (GMT+2). A summary whose time is over when the
 * process starts is not sent. After ten failed attempts, drops the summary and logs a warning.
 */
export function sendDailySummary(settings: SummarySettings): Repeated {
  const { ports, log, pauseMilliseconds = minuteMilliseconds } = settings
  let sent = dueDay(ports.clock)
  let tries = 0

  async function sendIfDue(): Promise<void> {
    const day = dueDay(ports.clock)
    if (day <= sent) return
    const failure = await send(settings, day)
    if (failure === undefined || ++tries >= triesMax) {
      if (failure !== undefined) log.warn({ failure }, 'the daily summary was dropped after ten failed attempts')
      sent = day
      tries = 0
    }
  }

  return repeat({
    name: 'daily summary',
    pauseMilliseconds,
    log,
    work: async () => {
      await sendIfDue()
      return 'all'
    },
  })
}

/** Sends the summary unless another process does. Returns why it was not accepted, or undefined. */
async function send({ url, ports, place }: SummarySettings, day: GatewayDay): Promise<string | undefined> {
  const first = (await ports.overview.dispatchers()).find((one) => !one.overdue && one.place !== undefined)
  if (first?.place?.host !== place.host || first.place.pid !== place.pid) return undefined
  const { body, date } = await summaryOf(ports, day)
  const timestamp = Math.floor(ports.clock.now() / 1000)
  return failureOf(await ports.webhookClient.push({ url, id: `summary-${date}`, timestamp, body, secrets: [] }))
}

/** Returns the summary of a day in JSON. `text` is the same in one sentence, for chat programs. */
async function summaryOf({ dailySums, overview, webhooks, clock }: SummaryPorts, day: GatewayDay) {
  const [since, after, routes, totals] = await Promise.all([
    dailySums.byCarrier(day),
    dailySums.byCarrier((day + 1) as GatewayDay),
    overview.routes(),
    webhooks.totals(webhookRowsMax),
  ])
  const count = (codes: readonly number[]): number => sumOf(since, codes) - sumOf(after, codes)
  const messages = Object.fromEntries(Object.entries(states).map(([state, codes]) => [state, count(codes)]))
  const due = routes.reduce((sum, route) => sum + route.due, 0)
  const oldestDue = Math.min(clock.now(), ...routes.map((route) => route.oldestDue))
  const date = formatDate(startOfGatewayDay(day)).replaceAll('/', '-')
  const waiting = { due, oldestSeconds: Math.round((clock.now() - oldestDue) / 1000) }
  const endpoints = Object.fromEntries(totals.map(({ condition, endpoints: number }) => [condition, number]))
  const sentence = Object.entries(messages)
    .map(([state, number]) => `${number} ${state}`)
    .join(', ')
  const text = `SMS of ${date}: ${sentence}; ${due} due now.`
  return { date, body: JSON.stringify({ text, date, messages, waiting, webhooks: endpoints }) }
}

const states: Readonly<Record<string, readonly number[]>> = {
  delivered: [OUTCOME.delivered],
  'without receipt': [OUTCOME.sent, OUTCOME.underWay],
  unknown: [OUTCOME.unknown],
  refused: [OUTCOME.refused],
  expired: [OUTCOME.expired],
  'not delivered': [
    ...[OUTCOME.cancelled, OUTCOME.undeliverable, OUTCOME.rejected, OUTCOME.insufficientCredits],
    ...[OUTCOME.accountLocked, OUTCOME.tooLong, OUTCOME.optedOut, OUTCOME.failed, OUTCOME.blacklisted],
  ],
}

const sumOf = (sums: readonly Pick<DailySum, 'code' | 'messages'>[], codes: readonly number[]): number =>
  sums.filter(({ code }) => codes.includes(code)).reduce((sum, { messages }) => sum + messages, 0)

import { works, type CarrierStatus } from '@gateway/core/dispatch'
import type { HistogramCounts, Overview, WaitingRoute } from '@gateway/core/fleet'
import type { Clock } from '@gateway/core/time'
import type { Webhooks, WebhookTotal } from '@gateway/core/webhooks'
import { remembered, type Metrics } from '@gateway/server'
import type { Dispatching } from './dispatch.ts'
import type { CarrierHistograms } from './dispatched-carrier.ts'
import type { Pushing } from './push.ts'

const messageStates = ['ahead', 'unanswered', 'inDoubt', 'uncommitted'] as const

/** Registers metrics of the messages in dispatchers, read at each scrape. */
export function measureDispatching(
  metrics: Metrics,
  dispatching: Pick<
    Dispatching,
    'state' | 'answers' | 'inboundMessages' | 'unknown' | 'carriers' | 'reports' | 'histograms'
  >,
): void {
  measureCarriers(metrics, dispatching)
  measureHistograms(metrics, dispatching)
  metrics.gauge('gateway_dispatcher_messages', 'Messages that a dispatcher holds', ['carrier', 'state'], () =>
    Object.entries(dispatching.state()).flatMap(([carrier, state]) =>
      messageStates.map((name) => ({ labels: { carrier, state: name }, value: state[name] })),
    ),
  )
  metrics.gauge('gateway_dispatcher_stalled', '1 while work of this kind makes no progress', ['carrier', 'work'], () =>
    Object.entries(dispatching.state()).flatMap(([carrier, { stalled }]) =>
      works.map((work) => ({ labels: { carrier, work }, value: Number(stalled.includes(work)) })),
    ),
  )
  metrics.counter('gateway_unknown_outcomes_total', 'Messages whose outcome became unknown (106)', ['cause'], () =>
    Object.entries(dispatching.unknown()).map(([cause, value]) => ({ labels: { cause }, value })),
  )
  metrics.counter('gateway_carrier_answers_total', 'Answered submissions', ['carrier', 'outcome'], () =>
    Object.entries(dispatching.answers()).flatMap(([carrier, answers]) =>
      Object.entries(answers).map(([outcome, value]) => ({ labels: { carrier, outcome }, value })),
    ),
  )
  metrics.counter('gateway_arrivals_total', 'Inbound messages of people', ['carrier', 'result'], () =>
    Object.entries(dispatching.inboundMessages()).flatMap(([carrier, inboundMessages]) =>
      Object.entries(inboundMessages).map(([result, value]) => ({ labels: { carrier, result }, value })),
    ),
  )
}

/**
 * Registers the metric of the version of the carriers. Processes whose values differ do not use the same carriers yet.
 */
export function measureVersion(metrics: Metrics, following: { version(): number }): void {
  metrics.gauge('gateway_carriers_version', 'Version of the carriers in use by the process', [], () => [
    { labels: {}, value: following.version() },
  ])
}

/** Registers the metric of messages that wait for an operator's decision. */
export function measureDoubt(metrics: Metrics, promotions: { inDoubt(): number }): void {
  metrics.gauge(
    'gateway_in_doubt_messages',
    'Messages held after a promotion: the lost database server may have had them submitted',
    [],
    () => [{ labels: {}, value: promotions.inDoubt() }],
  )
}

interface CarrierGauge {
  readonly name: string
  readonly help: string
  readonly of: (status: CarrierStatus) => number
}

const boundTimes = ({ links = [] }: CarrierStatus): readonly number[] =>
  links.flatMap(({ boundSince }) => boundSince ?? [])

const carrierGauges: readonly CarrierGauge[] = [
  { name: 'binds', help: 'Connections that are bound', of: (status) => boundTimes(status).length },
  {
    name: 'bound_seconds',
    help: 'When the newest connection was bound, in seconds since 1970; 0 without a connection',
    of: (status) => Math.floor(Math.max(0, ...boundTimes(status)) / 1000),
  },
  { name: 'waiting', help: 'Submissions that wait for a connection or their turn', of: ({ waiting }) => waiting },
  {
    name: 'throttled',
    help: '1 while the carrier gets less because it reported too many messages',
    of: (status) => Number(status.isThrottled),
  },
  {
    name: 'circuit_open',
    help: '1 while the carrier gets only probes',
    of: ({ circuit }) => Number(circuit !== undefined && circuit.state !== 'closed'),
  },
  {
    name: 'answer_seconds',
    help: 'Average answer time; 0 before the first answer',
    of: ({ circuit }) => (circuit?.answerMilliseconds ?? 0) / 1000,
  },
  {
    name: 'parts_per_second',
    help: 'Maximum rate of the carrier; 0 without a limit',
    of: ({ perSecond }) => perSecond ?? 0,
  },
]

/** Registers metrics of carriers. Network carriers have additional metrics. */
function measureCarriers(metrics: Metrics, dispatching: Pick<Dispatching, 'carriers' | 'reports'>): void {
  metrics.gauge('gateway_carrier_window', 'Maximum number of outstanding submissions', ['carrier'], () =>
    dispatching.reports().map(({ carrier, window }) => ({ labels: { carrier }, value: window })),
  )
  metrics.gauge('gateway_carrier_paused', '1 while an operator has paused or drained the carrier', ['carrier'], () =>
    dispatching.reports().map(({ carrier, mode }) => ({ labels: { carrier }, value: Number(mode !== 'running') })),
  )
  metrics.gauge('gateway_carrier_requests', 'Requests without a response', ['carrier'], () =>
    dispatching
      .reports()
      .flatMap(({ carrier, status, unanswered }) => (status ? [{ labels: { carrier }, value: unanswered }] : [])),
  )
  const overflowHelp = 'Messages that the carrier claimed because carriers of a better priority were full'
  metrics.counter('gateway_carrier_overflow_total', overflowHelp, ['carrier'], () =>
    dispatching.reports().map(({ carrier, overflowed = 0 }) => ({ labels: { carrier }, value: overflowed })),
  )
  const read = (of: CarrierGauge['of']) => () =>
    Object.entries(dispatching.carriers()).map(([carrier, status]) => ({ labels: { carrier }, value: of(status) }))
  for (const { name, help, of } of carrierGauges) metrics.gauge(`gateway_carrier_${name}`, help, ['carrier'], read(of))
  metrics.counter('gateway_carrier_receipts_total', 'Receipts received', ['carrier', 'result'], () =>
    Object.entries(dispatching.carriers()).flatMap(([carrier, { receipts, unreadable }]) => [
      { labels: { carrier, result: 'received' }, value: receipts.received },
      { labels: { carrier, result: 'missed' }, value: receipts.missed },
      { labels: { carrier, result: 'unreadable' }, value: unreadable },
    ]),
  )
}

function measureHistograms(metrics: Metrics, dispatching: Pick<Dispatching, 'histograms'>): void {
  const read = (of: (all: CarrierHistograms) => HistogramCounts | undefined) => () =>
    Object.entries(dispatching.histograms()).flatMap(([carrier, all]) => {
      const counts = of(all)
      return counts === undefined ? [] : [{ labels: { carrier }, ...counts }]
    })
  metrics.histogram(
    'gateway_carrier_wait_seconds',
    'Time from the acceptance of a message, or its due time if scheduled, to its first submission',
    ['carrier'],
    read(({ waits }) => waits),
  )
  metrics.histogram(
    'gateway_carrier_response_seconds',
    'Time from a request to the carrier to its response',
    ['carrier'],
    read(({ responseTime }) => responseTime),
  )
  metrics.histogram(
    'gateway_carrier_receipt_seconds',
    'Time from the answer to the receipt, of a sample',
    ['carrier'],
    read(({ receiptDelay }) => receiptDelay),
  )
  metrics.histogram(
    'gateway_carrier_message_parts',
    'Parts of messages that the carrier accepted',
    ['carrier'],
    read(({ parts }) => parts),
  )
}

/** Registers metrics of the requests to endpoints of accounts. */
export function measurePushing(metrics: Metrics, pushing: Pick<Pushing, 'counts' | 'requests'>): void {
  metrics.gauge('gateway_webhook_requests', 'Requests to endpoints in progress', [], () => [
    { labels: {}, value: pushing.requests() },
  ])
  metrics.counter('gateway_webhook_requests_total', 'Requests to endpoints that ended', ['result'], () => {
    const { delivered, failed } = pushing.counts()
    return Object.entries({ delivered, failed }).map(([result, value]) => ({ labels: { result }, value }))
  })
  metrics.counter('gateway_webhook_events_total', 'Events in requests that were delivered', [], () => [
    { labels: {}, value: pushing.counts().events },
  ])
  metrics.counter('gateway_webhook_unopened_secrets_total', 'Signing secrets that could not be opened', [], () => [
    { labels: {}, value: pushing.counts().unopened },
  ])
  metrics.counter('gateway_webhook_unreadable_events_total', 'Attempts to read an unreadable event', [], () => [
    { labels: {}, value: pushing.counts().unreadable },
  ])
}

/** Maximum rows counted per endpoint. PostgreSQL counts this many in 5 ms. */
const countedMax = 10_000

/**
 * Registers metrics of events that wait for endpoints of all accounts, regardless of which process pushes the events.
 * The metrics are absent while the database does not answer.
 */
export function measureWaiting(metrics: Metrics, webhooks: Pick<Webhooks, 'totals'>, clock: Clock): void {
  const age = ({ oldest }: WebhookTotal): number =>
    oldest === undefined ? 0 : Math.max(0, (clock.now() - oldest) / 1000)
  const totals = remembered(() => webhooks.totals(countedMax))
  const read = (of: (total: WebhookTotal) => number) => async () =>
    (await totals()).map((total) => ({ labels: { state: total.condition }, value: of(total) }))
  const by = ['state']
  metrics.gauge(
    'gateway_webhooks',
    'Endpoints',
    by,
    read(({ endpoints }) => endpoints),
  )
  metrics.gauge(
    'gateway_webhook_waiting_events',
    'Waiting events that are in no list yet',
    by,
    read(({ events }) => events),
  )
  metrics.gauge(
    'gateway_webhook_waiting_lists',
    'Lists being pushed or waiting for a retry',
    by,
    read(({ lists }) => lists),
  )
  metrics.gauge(
    'gateway_webhook_dead_lists',
    'Lists that failed for good',
    by,
    read(({ dead }) => dead),
  )
  metrics.gauge('gateway_webhook_oldest_seconds', 'Age of the oldest waiting event; 0 without one', by, read(age))
}

/**
 * Registers metrics of due messages, regardless of which process sends the messages. The metrics are absent while the
 * database does not answer.
 */
export function measureRoutes(metrics: Metrics, overview: Pick<Overview, 'routes'>, clock: Clock): void {
  const routes = remembered(() => overview.routes())
  const read = (of: (one: WaitingRoute) => number) => async () =>
    (await routes()).map((one) => ({ labels: { route: one.route ?? '' }, value: of(one) }))
  metrics.gauge(
    'gateway_route_due_messages',
    'Due messages that no dispatcher has claimed',
    ['route'],
    read(({ due }) => due),
  )
  metrics.gauge(
    'gateway_queue_due_messages',
    'Due and unclaimed messages by route and lane',
    ['route', 'lane'],
    async () =>
      (await routes()).flatMap(({ route = '', due, single }) => [
        { labels: { route, lane: 'single' }, value: single },
        { labels: { route, lane: 'bulk' }, value: due - single },
      ]),
  )
  metrics.gauge(
    'gateway_route_oldest_due_seconds',
    'Age of the oldest due and unclaimed message, by route and lane',
    ['route', 'lane'],
    async () =>
      (await routes()).flatMap(({ route = '', oldestOfLane }) =>
        Object.entries(oldestOfLane).map(([lane, oldest]) => ({
          labels: { route, lane },
          value: Math.max(0, (clock.now() - oldest) / 1000),
        })),
      ),
  )
}

/** Seconds over which messages of unknown outcome are counted: a day. */
const unknownSeconds = 86_400

/**
 * Registers the metric of messages of the last day whose outcome became unknown, regardless of which process submitted
 * them. Its values are absent while the database does not answer.
 */
export function measureUnknown(metrics: Metrics, overview: Pick<Overview, 'unknownOutcomes'>): void {
  const counts = remembered(() => overview.unknownOutcomes(unknownSeconds))
  metrics.gauge(
    'gateway_recent_unknown_outcomes',
    'Messages of the last 24 hours whose outcome became unknown (106)',
    ['carrier', 'state'],
    async () =>
      (await counts()).flatMap(({ carrier, resolved, unresolved }) => [
        { labels: { carrier, state: 'resolved' }, value: resolved },
        { labels: { carrier, state: 'unresolved' }, value: unresolved },
      ]),
  )
}

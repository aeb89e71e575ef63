import { works } from '@gateway/core'
import type { Metrics } from '@gateway/server'
import type { Dispatching } from './dispatch.ts'

const held = ['ahead', 'unanswered', 'inDoubt', 'uncommitted'] as const

/** What dispatchers hold, read at each look at the metrics. */
export function measureDispatching(
  metrics: Metrics,
  dispatching: Pick<Dispatching, 'state' | 'answers' | 'inboundMessages' | 'unknown'>,
): void {
  metrics.gauge('gateway_dispatcher_messages', 'Messages that a dispatcher holds', ['carrier', 'state'], () =>
    Object.entries(dispatching.state()).flatMap(([carrier, state]) =>
      held.map((name) => ({ labels: { carrier, state: name }, value: state[name] })),
    ),
  )
  metrics.gauge('gateway_dispatcher_stalled', 'Work that makes no progress: 1', ['carrier', 'work'], () =>
    Object.entries(dispatching.state()).flatMap(([carrier, { stalled }]) =>
      works.map((work) => ({ labels: { carrier, work }, value: Number(stalled.includes(work)) })),
    ),
  )
  metrics.counter('gateway_unknown_outcomes_total', 'Messages whose outcome became unknown (106)', ['cause'], () =>
    Object.entries(dispatching.unknown()).map(([cause, value]) => ({ labels: { cause }, value })),
  )
  metrics.counter('gateway_carrier_answers_total', 'Submissions that were answered', ['carrier', 'outcome'], () =>
    Object.entries(dispatching.answers()).flatMap(([carrier, answers]) =>
      Object.entries(answers).map(([outcome, value]) => ({ labels: { carrier, outcome }, value })),
    ),
  )
  metrics.counter('gateway_arrivals_total', 'Messages that people wrote', ['carrier', 'result'], () =>
    Object.entries(dispatching.inboundMessages()).flatMap(([carrier, inboundMessages]) =>
      Object.entries(inboundMessages).map(([result, value]) => ({ labels: { carrier, result }, value })),
    ),
  )
}

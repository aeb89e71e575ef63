import type { Metrics } from '@gateway/server'
import type { Dispatching } from './dispatch.ts'

/** What dispatchers hold, read at each look at the metrics. */
export function measureDispatching(
  metrics: Metrics,
  dispatching: Pick<Dispatching, 'state' | 'answers' | 'arrivals'>,
): void {
  metrics.gauge('gateway_dispatcher_messages', 'Messages that a dispatcher holds', ['carrier', 'state'], () =>
    Object.entries(dispatching.state()).flatMap(([carrier, state]) =>
      Object.entries(state).map(([name, value]) => ({ labels: { carrier, state: name }, value })),
    ),
  )
  metrics.counter('gateway_carrier_answers_total', 'Submissions that were answered', ['carrier', 'outcome'], () =>
    Object.entries(dispatching.answers()).flatMap(([carrier, answers]) =>
      Object.entries(answers).map(([outcome, value]) => ({ labels: { carrier, outcome }, value })),
    ),
  )
  metrics.counter('gateway_arrivals_total', 'Messages that people wrote', ['carrier', 'result'], () =>
    Object.entries(dispatching.arrivals()).flatMap(([carrier, arrivals]) =>
      Object.entries(arrivals).map(([result, value]) => ({ labels: { carrier, result }, value })),
    ),
  )
}

import type { DatabaseClock } from '@gateway/adapters-postgres'
import type { Metrics } from '@gateway/server'

/** How wrong the clock of this machine is, as the last comparison said. */
export const measureClock = (metrics: Metrics, clock: Pick<DatabaseClock, 'offsetSeconds'>): void =>
  metrics.gauge(
    'gateway_clock_offset_seconds',
    "How far the clock of this machine is ahead of the database's; negative: behind",
    [],
    () => [{ labels: {}, value: clock.offsetSeconds() }],
  )

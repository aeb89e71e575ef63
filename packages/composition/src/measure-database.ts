import type { PostgresPorts } from '@gateway/adapters-postgres'
import type { Metrics } from '@gateway/server'

/** How the connections of the process are used, and how long the database takes. */
export function measureDatabase(metrics: Metrics, { use, statements, commits }: PostgresPorts['figures']): void {
  metrics.gauge('gateway_database_connections', 'Connections of the process', ['pool', 'state'], () =>
    Object.entries(use()).flatMap(([pool, { busy, idle }]) => [
      { labels: { pool, state: 'busy' }, value: busy },
      { labels: { pool, state: 'idle' }, value: idle },
    ]),
  )
  metrics.gauge('gateway_database_waiting', 'What waits for a connection of the process', ['pool'], () =>
    Object.entries(use()).map(([pool, { waiting }]) => ({ labels: { pool }, value: waiting })),
  )
  metrics.histogram('gateway_database_statement_seconds', 'How long statements take', ['statement'], () =>
    statements().map(([statement, counts]) => ({ labels: { statement }, ...counts })),
  )
  metrics.histogram('gateway_database_commit_seconds', 'How long commits of transactions take', [], () => [
    { labels: {}, ...commits() },
  ])
}

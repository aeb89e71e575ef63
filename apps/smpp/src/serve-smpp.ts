import type { WaitingDeliveries } from '@gateway/core/smpp-customers'
import type { Clock } from '@gateway/core/time'
import { remembered, type ConfiguredCertificates, type Log, type Metrics } from '@gateway/server'
import { startSmppServer, type SmppServer, type SmppServerSettings } from './smpp-server.ts'
import { tlsFiles } from './tls-files.ts'
import type { SmppEnvironment } from './variables.ts'

export interface ServeSmppParts extends Pick<SmppServerSettings, 'gateway' | 'processing'> {
  readonly environment: SmppEnvironment
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  /** Counts what waits for all customers. */
  readonly waiting: () => Promise<WaitingDeliveries>
  readonly onStop: (part: string, stop: () => Promise<void> | void) => void
}

export interface ServedSmpp {
  readonly server: SmppServer
  readonly certificates: () => readonly ConfiguredCertificates[]
}

/** Starts the SMPP server of a process by its environment, and follows its certificate until the process stops. */
export async function serveSmpp({ environment, onStop, waiting, ...parts }: ServeSmppParts): Promise<ServedSmpp> {
  measureWaiting(parts.metrics, waiting, parts.clock)
  const { HOST: host, CLIENTS_MAX: connectionsMax, SMPP_PORT: port, SMPP_TLS_PORT: tlsPort } = environment
  const files = tlsFiles(environment, parts.log)
  const tls = files === undefined ? {} : { tls: { ...files.current(), port: tlsPort } }
  const server = await startSmppServer({ ...parts, host, port, connectionsMax, ...tls })
  onStop('SMPP server', () => server.close())
  const following = files?.follow((next) => server.reload(next))
  if (following !== undefined) onStop('certificate of SMPP', () => following.stop())
  return { server, certificates: () => files?.certificates() ?? [] }
}

/**
 * Registers metrics of receipts and replies that wait. While the database does not answer, a scrape does not wait for
 * them.
 */
function measureWaiting(metrics: Metrics, waiting: ServeSmppParts['waiting'], clock: Clock): void {
  const readCounts = remembered(async () => [await waiting()])
  metrics.gauge(
    'gateway_smpp_deliveries_waiting',
    'Receipts and replies of all customers over SMPP that wait',
    ['kind'],
    async () =>
      (await readCounts()).flatMap(({ receipts, replies }) => [
        { labels: { kind: 'receipt' }, value: receipts },
        { labels: { kind: 'reply' }, value: replies },
      ]),
  )
  metrics.gauge(
    'gateway_smpp_oldest_delivery_seconds',
    'Age of the oldest receipt or reply for a customer over SMPP that waits',
    [],
    async () =>
      (await readCounts()).map(({ oldest }) => ({
        labels: {},
        value: oldest === undefined ? 0 : (clock.now() - oldest) / 1000,
      })),
  )
}

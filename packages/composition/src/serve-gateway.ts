import type { RequestListener } from 'node:http'
import { createGateway, type Clock, type Gateway } from '@gateway/core'
import {
  admissionGate,
  createMetrics,
  confirmedResponses,
  listen,
  measureAdmission,
  measureLogins,
  type AdmissionGate,
  type ConfirmedResponses,
  type HealthSettings,
  type Log,
  type Metrics,
  type Running,
} from '@gateway/server'
import type { ContextWith, Opened } from './open-ports.ts'
import { gatewaySettings, type GatewayEnvironment } from './variables.ts'

/** What the app of an interface is made of. */
export interface ServerParts {
  readonly clock: Clock
  readonly gate: AdmissionGate
  readonly confirmedResponses: ConfirmedResponses
  readonly log: Log
  readonly metrics: Metrics
  readonly health: HealthSettings
}

export interface Serving {
  readonly createServer: (gateway: Gateway, parts: ServerParts) => RequestListener
  /** What the process measures besides. */
  readonly metrics?: Metrics
  /** As of `listen`. */
  readonly graceSeconds?: number
}

export interface ServerEnvironment extends GatewayEnvironment {
  readonly HOST: string
  readonly PORT: number
  readonly REQUESTS_MAX: number
}

/** Serves a gateway over these ports, until the process stops. */
export async function serveGateway(
  context: ContextWith<ServerEnvironment>,
  { ports, health }: Pick<Opened, 'ports' | 'health'>,
  { createServer, metrics = createMetrics(), graceSeconds }: Serving,
): Promise<Running> {
  const { environment, log, onStop } = context
  const { HOST, PORT, REQUESTS_MAX } = environment
  const answers = confirmedResponses({ log })
  onStop('answers', () => answers.settle())
  const gateway = createGateway(ports, gatewaySettings(environment))
  const gate = admissionGate(REQUESTS_MAX)
  measureAdmission(metrics, gate)
  measureLogins(metrics, ports.secrets)
  const app = createServer(gateway, { clock: ports.clock, gate, confirmedResponses: answers, log, metrics, health })
  const server = await listen({ app, host: HOST, port: PORT, log, ...(graceSeconds && { graceSeconds }) })
  onStop('server', () => server.close())
  return server
}

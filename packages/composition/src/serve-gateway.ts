import type { RequestListener } from 'node:http'
import {
  createGateway,
  type Gateway,
  holderAccess,
  operatorAccess,
  type HolderAccess,
  type OperatorAccess,
} from '@gateway/core'
import type { Clock } from '@gateway/core/time'
import {
  admissionGate,
  confirmedResponses,
  createMetrics,
  databaseVariables,
  listen,
  loadSettings,
  loadVariables,
  loginVariables,
  measureAdmission,
  measureLogins,
  oidcSettings,
  oidcVariables,
  runProcess,
  serverVariables,
  trustProxies,
  watchCertificates,
  type AdmissionGate,
  type ConfirmedResponses,
  type DescribeMalformed,
  type ConfiguredCertificates,
  type HealthSettings,
  type Log,
  type Metrics,
  type OidcSettings,
  type Running,
} from '@gateway/server'
import { measureProcess } from './measure-process.ts'
import { loginsOf, openPorts, type ContextWith, type Opened } from './open-ports.ts'
import {
  gatewaySettings,
  gatewayVariables,
  publishedVariables,
  webhookVariables,
  type GatewayEnvironment,
} from './variables.ts'
import { connectingProviders } from './connecting-providers.ts'
import { createBulkCalls } from './send-bulk-calls.ts'
import { watchAccounts } from './watch-accounts.ts'

/** Services from which the app of an interface is built. */
export interface ServerParts {
  readonly clock: Clock
  readonly holders: HolderAccess
  readonly operators: OperatorAccess
  readonly oidc: OidcSettings | undefined
  readonly gate: AdmissionGate
  readonly confirmedResponses: ConfirmedResponses
  readonly log: Log
  readonly metrics: Metrics
  readonly health: HealthSettings
  readonly corsOrigins: readonly string[]
}

export interface Serving {
  readonly createServer: (gateway: Gateway, parts: ServerParts) => RequestListener
  /** Describes malformed requests, as in `ListenSettings`. */
  readonly describeMalformed?: (clock: Clock) => DescribeMalformed
  /** Returns the certificates in use, in addition to those of the database. */
  readonly certificates?: () => readonly ConfiguredCertificates[]
  /** Metrics of the process that the server extends. */
  readonly metrics?: Metrics
  /** Seconds for which a stop waits for requests, as in `ListenSettings`. */
  readonly graceSeconds?: number
  /**
   * True if this process runs the calls of started bulk sends in the background, including those started in other
   * processes.
   */
  readonly sendsInBulk?: boolean
  /** As in `GatewaySettings`. */
  readonly waitingPartsMax?: number
}

/** Running server, and the gateway that it serves. */
export interface ServedGateway extends Running {
  readonly gateway: Gateway
}

type LoadEnvironment = Parameters<typeof loadSettings>[0]
type OidcEnvironment = Parameters<typeof oidcSettings>[0]

export interface ServerEnvironment extends GatewayEnvironment, LoadEnvironment, OidcEnvironment {
  readonly DATA_DIR: string
  readonly HOST: string
  readonly PORT: number
  readonly ADMIN_PORT: number | undefined
}

/** Seconds that a stop waits for requests whose clients have disconnected. */
const requestsSeconds = 2

/** Serves a gateway over these ports, until the process stops. */
export async function serveGateway(
  context: ContextWith<ServerEnvironment>,
  { ports, health, certificates, figures, vitals }: Omit<Opened, 'runExclusively' | 'backUp'>,
  {
    createServer,
    describeMalformed,
    certificates: further = () => [],
    metrics = createMetrics(),
    graceSeconds,
    sendsInBulk = false,
    waitingPartsMax,
  }: Serving,
): Promise<ServedGateway> {
  const { environment, log, onStop } = context
  const { HOST, PORT, ADMIN_PORT } = environment
  const load = loadSettings(environment)
  const oidc = oidcSettings(environment)
  const answers = confirmedResponses({ log })
  onStop('answers', () => answers.settle())
  const watched = watchAccounts({ accountRates: ports.accountRates, metrics })
  onStop('busy accounts', () => watched.stop())
  const bulkCalls = createBulkCalls()
  const waking = { ...ports, bulkSends: bulkCalls.waking(ports.bulkSends) }
  const { activity } = watched
  const gateway = createGateway(waking, { ...gatewaySettings(environment), activity, waitingPartsMax })
  if (sendsInBulk) {
    const sending = bulkCalls.start(() => gateway.commands.sendNextCall(), log)
    onStop('sends in bulk', () => sending.stop())
  }
  const gate = admissionGate(load.inFlightMax, load.gate)
  // The server does not wait for a client that has disconnected, but its request may still use the database.
  onStop('requests', () => gate.requests.ended(requestsSeconds))
  measureAdmission(metrics, gate)
  measureLogins(metrics, ports.secrets)
  measureProcess(context, { ports, health, figures, vitals, metrics })
  const allCertificates = () => [...certificates, ...further()]
  const watching = watchCertificates({ certificates: allCertificates, log, metrics, now: () => ports.clock.now() })
  onStop('certificates', () => watching.stop())
  const { limits, proxies, corsOrigins } = load
  const operators = operatorAccess(ports, { secondFactorRequired: environment.OPERATOR_SECOND_FACTOR })
  const holders = holderAccess(ports, gateway)
  const parts = {
    clock: ports.clock,
    holders,
    operators,
    oidc,
    gate,
    confirmedResponses: answers,
    log,
    metrics,
    health,
    corsOrigins,
  }
  const app = createServer(gateway, parts)
  trustProxies(app, proxies)
  const server = await listen({
    app,
    clock: ports.clock,
    host: HOST,
    port: PORT,
    adminPort: ADMIN_PORT,
    log,
    limits,
    ...(graceSeconds && { graceSeconds }),
    ...(describeMalformed && { describeMalformed: describeMalformed(ports.clock) }),
  })
  onStop('server', () => server.close())
  return { ...server, gateway }
}

export interface InterfaceSettings extends Pick<Serving, 'createServer' | 'describeMalformed' | 'sendsInBulk'> {
  /** True if operators connect providers at this interface. */
  readonly connectsProviders?: boolean
  /** Name in logs and in messages for the operator. */
  readonly name: string
  /** Port to listen on if PORT is not set. */
  readonly port: number
}

/** Runs a process with one interface: reads the environment, opens the database and serves until a stop signal. */
export const startInterface = ({
  name,
  port,
  connectsProviders = false,
  ...serving
}: InterfaceSettings): Promise<void> =>
  runProcess({
    name,
    garbagePercent: 200,
    published: publishedVariables,
    variables: {
      ...serverVariables(port),
      ...databaseVariables,
      ...loadVariables,
      ...loginVariables,
      ...oidcVariables,
      ...gatewayVariables,
      ...webhookVariables,
    },
    start: async (context) => {
      const opened = await openPorts(context, loginsOf(context))
      const ports = connectsProviders ? await connectingProviders(context, opened.ports) : opened.ports
      await serveGateway(context, { ...opened, ports }, serving)
    },
  })

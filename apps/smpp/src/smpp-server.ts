import { randomUUID } from 'node:crypto'
import type { Gateway, Processing } from '@gateway/core'
import type { SmppProcessId } from '@gateway/core/smpp-customers'
import type { Clock } from '@gateway/core/time'
import { throttled, type Log, type Metrics } from '@gateway/server'
import { COMMAND_STATUS } from '@gateway/smpp'
import { Binds } from './binds/binds.ts'
import type { CustomerBind } from './binds/customer-bind.ts'
import { Deliver } from './deliveries/deliver.ts'
import { AdaptiveLimit, adaptiveLimitDefaults } from './session/adaptive-limit.ts'
import { listenForSmpp, type SmppListener, type TlsSettings } from './session/listen.ts'
import { refuseOperation, type Operation } from './session/responses.ts'
import { sessionTimes, type SessionHost, type SessionTimes } from './session/session.ts'
import { Sessions } from './session/sessions.ts'
import { SmppCounts } from './smpp-counts.ts'
import { statusName } from './submissions/command-status.ts'
import { operate, type OperateSettings } from './submissions/operate.ts'

export interface SmppServerSettings {
  readonly gateway: {
    readonly commands: Pick<
      Gateway['commands'],
      | 'authenticateBind'
      | 'openBind'
      | 'closeBinds'
      | 'reportBinds'
      | 'submitOverSmpp'
      | 'submitPart'
      | 'deleteScheduled'
    >
    readonly queries: Pick<Gateway['queries'], 'smppSession' | 'queryStatus'>
  }
  readonly processing: Pick<Processing, 'claimDeliveries' | 'settleDeliveries'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics?: Metrics
  readonly host: string
  /** Port without TLS; undefined: none. 0 takes any free port. */
  readonly port: number | undefined
  /** Port with TLS; undefined: none. */
  readonly tls?: TlsSettings & { readonly port: number }
  /** system_id in the responses to binds; default `gateway`. */
  readonly serverId?: string
  readonly connectionsMax?: number
  /** Maximum connections of one address that are not bound; default 50. */
  readonly unboundPerAddressMax?: number
  /** Maximum operations in progress in the process; default 2000. While operations are late, fewer are admitted. */
  readonly operationsMax?: number
  readonly times?: SessionTimes
  readonly answerMilliseconds?: number
}

export interface SmppServer {
  readonly port: number | undefined
  readonly tlsPort: number | undefined
  /** Uses another certificate for new connections. Throws if it cannot be used; binds stay in any case. */
  reload(tls: TlsSettings): void
  /**
   * Refuses new submissions with RSYSERR, sends outstanding responses, unbinds the clients and closes the connections.
   * Takes at most `stopMilliseconds`.
   */
  close(): Promise<void>
}

const defaults = {
  serverId: 'gateway',
  connectionsMax: 4000,
  unboundPerAddressMax: 50,
  operationsMax: adaptiveLimitDefaults.max,
}
const stopMilliseconds = 8000
const logMilliseconds = 1000

/** Serves customers over SMPP 3.4 (docs/smpp-server.md). Throws an Error for people if a port cannot be used. */
export async function startSmppServer(settings: SmppServerSettings): Promise<SmppServer> {
  const { gateway, processing, clock, log, metrics, host, port, tls } = settings
  const { operationsMax, ...limits } = { ...defaults, ...defined(settings) }
  const process = randomUUID() as SmppProcessId
  const counts = new SmppCounts(log)
  const binds = new Binds({ process, ...gateway, log })
  const deliver = new Deliver({ process, processing, sessions: () => binds.list(), log })
  const operating: Omit<OperateSettings, 'late'> = {
    ...{ commands: gateway.commands, queries: gateway.queries, clock, log },
    countStray: (bind, outside) => counts.stray(bind, outside),
    ...(settings.answerMilliseconds !== undefined && { answerMilliseconds: settings.answerMilliseconds }),
  }
  const logFailure = throttled(logMilliseconds, (unwritten, err: unknown, command: string) => {
    log.error({ err, command, unwritten }, 'an SMPP request failed and was answered RSYSERR')
  })
  const operations = new AdaptiveLimit({ ...adaptiveLimitDefaults, max: operationsMax })

  const sessionHost: SessionHost<CustomerBind> = {
    bind: (session, pdu, kind) => binds.decide(session, pdu, kind),
    async operate(session, bind, pdu) {
      const start = performance.now()
      operations.begin()
      let isLate = false
      const response = await operate({ ...operating, late: () => (isLate = true) }, session, bind, pdu).catch(
        (error: unknown) => {
          logFailure(error, pdu.command)
          return refuseOperation(pdu, COMMAND_STATUS.ESME_RSYSERR)
        },
      )
      const now = performance.now()
      operations.end(isLate, now - start, now)
      counts.respond(pdu.command, response.status, now - start)
      if (response.status !== 0) bind.lastError = statusName(response.status)
      return response
    },
    hasRoom: ({ bucket }) => operations.hasRoom && bucket.hasToken(performance.now()),
    admits: ({ bucket }, pdu) => bucket.take(recipientsOf(pdu), performance.now()),
    bound: () => deliver.wake(),
    hasWindow: () => deliver.wake(),
    refused(session, status) {
      counts.refuse(status)
      if (session.boundAs !== undefined) session.boundAs.lastError = statusName(status)
    },
    closed(session, reason) {
      counts.close(reason)
      if (session.boundAs !== undefined) void binds.remove(session.boundAs)
    },
  }
  const sessions = new Sessions(sessionHost, { ...limits, times: settings.times ?? sessionTimes })
  if (metrics !== undefined) counts.register(metrics, () => binds.list())

  const listeners: SmppListener[] = []
  const listen = async (address: Parameters<typeof listenForSmpp>[0], certificate?: TlsSettings) => {
    const listener = await listenForSmpp(address, (socket) => sessions.accept(socket), certificate)
    listeners.push(listener)
    log.info({ host, port: listener.port, tls: certificate !== undefined }, 'listening for SMPP')
    return listener
  }

  async function close(): Promise<void> {
    for (const listener of listeners) listener.close()
    await deliver.stop()
    await sessions.stop(stopMilliseconds)
    await deliver.finish()
    await binds.stop()
  }

  try {
    const plain = port === undefined ? undefined : await listen({ host, port, setting: 'SMPP_PORT' })
    const secure = tls === undefined ? undefined : await listen({ host, port: tls.port, setting: 'SMPP_TLS_PORT' }, tls)
    return { port: plain?.port, tlsPort: secure?.port, reload: (next) => secure?.reload(next), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Number of messages that an operation may create, by which the rate of a credential is counted. */
const recipientsOf = (pdu: Operation): number =>
  pdu.command === 'submit_multi' ? Math.max(1, pdu.destinations.length) : 1

const defined = ({ serverId, connectionsMax, unboundPerAddressMax, operationsMax }: SmppServerSettings) =>
  Object.fromEntries(
    Object.entries({ serverId, connectionsMax, unboundPerAddressMax, operationsMax }).filter(
      ([, value]) => value !== undefined,
    ),
  ) as Partial<typeof defaults>

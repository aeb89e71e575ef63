import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGateway, createProcessing, type Ports, holderAccess } from '@gateway/core'
import { realClock } from '@gateway/core/testing'
import { simulatedCarrier } from '../../packages/adapters-simulator/src/index.ts'
import { admissionGate, confirmedResponses, createLog, createMetrics, listen } from '../../packages/server/src/index.ts'
import { createAllInOneServer, describeMalformed } from '../../apps/all-in-one/src/server.ts'
import { startSmppServer } from '../../apps/smpp/src/smpp-server.ts'
import { startDispatching } from '../../apps/dispatcher/src/dispatch.ts'
import { anOperator } from '../../apps/operator/testing/operate.ts'

/** Gateway on memory ports: the four interfaces, a dispatcher with the simulated carrier, and the command line. */
export interface MemoryGateway {
  /** Address of all three interfaces, on loopback. */
  readonly url: URL
  readonly ports: Ports
  /** Port of the SMPP server, on loopback. */
  readonly smppPort: number
  /** Runs a command of the command line that must succeed; returns its JSON. */
  readonly operate: <Result>(args: readonly string[]) => Promise<Result>
  stop(): Promise<void>
}

const log = createLog({ level: 'silent', name: 'test' })

/** Milliseconds until the simulated carrier sends a receipt. */
const receiptMilliseconds = 10

/** Seconds for which a stop waits for the carrier. */
const drainSeconds = 5

/** Starts a gateway in this process. It behaves as the all-in-one does, but has no database. */
export async function startMemoryGateway(corsOrigins: readonly string[] = []): Promise<MemoryGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'gw-memory-'))
  const clock = realClock()
  const operator = anOperator({ clock })
  const { ports } = operator
  const gateway = createGateway(ports)
  const responses = confirmedResponses({ log })
  const dispatching = startDispatching({
    ports,
    carriers: [simulatedCarrier({ folder, delayMilliseconds: receiptMilliseconds })],
    log,
    poll: { pauseMilliseconds: 5 },
  })
  const app = createAllInOneServer(gateway, {
    clock,
    holders: holderAccess(ports, gateway),
    gate: admissionGate(100),
    confirmedResponses: responses,
    log,
    metrics: createMetrics(),
    health: { checks: {} },
    corsOrigins,
  })
  const server = await listen({
    app,
    clock,
    host: '127.0.0.1',
    port: 0,
    log,
    describeMalformed: describeMalformed(clock),
  })
  const smpp = await startSmppServer({
    ...{ gateway, processing: createProcessing(ports), clock, log, host: '127.0.0.1', port: 0 },
  })
  return {
    url: new URL(server.url),
    smppPort: smpp.port ?? 0,
    ports,
    operate: async <Result>(args: readonly string[]): Promise<Result> => {
      const { code, out, err } = await operator.run([...args, '--json'])
      if (code !== 0) throw new Error(`gateway ${args.join(' ')} ended with ${String(code)}: ${err}${out}`)
      return JSON.parse(out) as Result
    },
    stop: async () => {
      await smpp.close()
      await server.close()
      await responses.settle()
      await dispatching.stop(drainSeconds)
      await rm(folder, { recursive: true })
    },
  }
}

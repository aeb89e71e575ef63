import { createBackOffice, createGateway, type Gateway, type Ports } from '@gateway/core'
import type { Account } from '@gateway/core/accounts'
import { anAccount, memoryPorts, steppingClock, type AccountOptions, type SteppingClock } from '@gateway/core/testing'
import { admissionGate, createLog, confirmedResponses, listen, type AdmissionGate, type Log } from '@gateway/server'
import request, { type Test } from 'supertest'
import { createAspServer } from '../src/index.ts'
import './checked-answers.ts'

const silent = createLog({ level: 'silent', name: 'asp' })

/**
 * The interface on memory ports behind a real HTTP server on loopback, with an account that has a key and a password.
 */
export interface Asp {
  readonly url: string
  readonly ports: Ports
  readonly clock: SteppingClock
  readonly account: Account
  readonly key: string
  /** Sends a GET to an endpoint with the account's key. `query` is appended unchanged. */
  get(endpoint: string, query?: string): Test
  close(): Promise<void>
}

export interface AspOptions {
  readonly account?: AccountOptions
  readonly gate?: AdmissionGate
  readonly log?: Log
  /** Wraps the gateway so that it can fail. */
  readonly gateway?: (gateway: Gateway) => Gateway
}

export const password = 'correct horse'

/** Starts the interface. The clock stands at 2026-10-18 10:00 in gateway time until a test moves it. */
export async function startAsp(options: AspOptions = {}): Promise<Asp> {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const account = await anAccount(ports, options.account)
  const issued = await createBackOffice(ports).commands.issueApiKey(account.id)
  if (typeof issued === 'string') throw new Error(issued)
  await createBackOffice(ports).commands.setPassword(account.id, password)
  const gateway = (options.gateway ?? ((same: Gateway) => same))(createGateway(ports))
  const log = options.log ?? silent
  const answers = confirmedResponses({ log })
  const gate = options.gate ?? admissionGate(100)
  const app = createAspServer(gateway, { clock, log, gate, confirmedResponses: answers })
  const server = await listen({ app, host: '127.0.0.1', port: 0, log: silent })
  return {
    url: server.url,
    ports,
    clock,
    account,
    key: issued.key,
    get: (endpoint, query = '') => request(server.url).get(`/api/${endpoint}?apikey=${issued.key}&${query}`),
    close: async () => {
      await server.close()
      await answers.settle()
    },
  }
}

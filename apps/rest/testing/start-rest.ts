import { createBackOffice, createGateway, type Gateway, type Ports } from '@gateway/core'
import type { Account } from '@gateway/core/accounts'
import { anAccount, memoryPorts, steppingClock, type AccountOptions, type SteppingClock } from '@gateway/core/testing'
import { admissionGate, createLog, listen, type AdmissionGate, type Log } from '@gateway/server'
import request, { type Test } from 'supertest'
import { createRestServer } from '../src/index.ts'
import './checked-answers.ts'

const silent = createLog({ level: 'silent', name: 'rest' })
const prefix = '/api/rest/v1'

/** REST interface with in-memory ports on a real HTTP server on loopback, and an account that has an API key. */
export interface Rest {
  readonly url: string
  readonly ports: Ports
  readonly clock: SteppingClock
  readonly account: Account
  readonly key: string
  /** Sends a GET below the prefix with the account's key. */
  get(path: string): Test
  /** Sends a POST. A string is sent unchanged as application/json, any other body is serialized. */
  post(path: string, body: unknown): Test
  patch(path: string, body: unknown): Test
  delete(path: string): Test
  close(): Promise<void>
}

export interface RestOptions {
  readonly account?: AccountOptions
  readonly gate?: AdmissionGate
  readonly log?: Log
  /** Wraps the gateway, for example to make its operations fail. */
  readonly gateway?: (gateway: Gateway) => Gateway
}

/** Starts the interface. The clock stands at 2026-10-18 10:00 in gateway time until a test moves it. */
export async function startRest(options: RestOptions = {}): Promise<Rest> {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const account = await anAccount(ports, options.account)
  const key = await keyFor(ports, account)
  const gateway = (options.gateway ?? ((same: Gateway) => same))(createGateway(ports))
  const app = createRestServer(gateway, { clock, log: options.log ?? silent, gate: options.gate ?? admissionGate(100) })
  const server = await listen({ app, host: '127.0.0.1', port: 0, log: silent })
  const withKey = request(server.url)
  const withBody = (method: 'post' | 'patch') => (path: string, body: unknown) =>
    withKey[method](`${prefix}${path}`)
      .set('Authorization', key)
      .type('application/json')
      .send(typeof body === 'string' ? body : JSON.stringify(body))
  return {
    url: server.url,
    ports,
    clock,
    account,
    key,
    get: (path) => request(server.url).get(`${prefix}${path}`).set('Authorization', key),
    post: withBody('post'),
    patch: withBody('patch'),
    delete: (path) => request(server.url).delete(`${prefix}${path}`).set('Authorization', key),
    close: () => server.close(),
  }
}

export async function keyFor(ports: Ports, account: Account): Promise<string> {
  const issued = await createBackOffice(ports).commands.issueApiKey(account.id)
  if (typeof issued === 'string') throw new Error(issued)
  return issued.key
}

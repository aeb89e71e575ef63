import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readFileConfiguration, storeCarriers } from '@gateway/carriers'
import { createProcessing, type Ports } from '@gateway/core'
import { memoryPorts, steppingClock } from '@gateway/core/testing'
import { admissionGate, createLog, createMetrics, createServiceApp, type Log } from '@gateway/server'
import request from 'supertest'
import {
  callbacksNotFound,
  callbacksRouter,
  followCallbackCarriers,
  type CallbackStore,
  type CallbacksSettings,
} from '../src/index.ts'
import type { SentCallback } from './recorded-callbacks.ts'

const silent = createLog({ level: 'silent', name: 'callbacks' })

export interface CallbacksOptions extends Partial<
  Pick<CallbacksSettings, 'perSecondMax' | 'answerMilliseconds' | 'refused'>
> {
  readonly publicUrl?: string
  readonly log?: Log
  readonly store?: (store: CallbackStore) => CallbackStore
  /** Ports to use instead of new memory ports. */
  readonly ports?: Ports
}

/** Stores carriers as the latest version. They are given in the form that a carrier file uses. */
export async function storeFile(ports: Ports, carriers: readonly object[], publicUrl: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'callbacks-'))
  try {
    const path = join(folder, 'carriers.json')
    writeFileSync(path, JSON.stringify({ carriers }))
    const configuration = await readFileConfiguration(path, { PUBLIC_URL: publicUrl })
    const after = (await ports.fleet.state()).version
    await storeCarriers(ports, configuration, { after, storedBy: 'a test', onPurpose: true })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Starts the router on memory ports, with carriers in the form that a carrier file uses. */
export async function startCallbacks(carriers: readonly object[], options: CallbacksOptions = {}) {
  const { publicUrl = 'https://gw.example', log = silent, store = (same) => same, ...limits } = options
  const ports = options.ports ?? memoryPorts({ clock: steppingClock() })
  if (carriers.length > 0) await storeFile(ports, carriers, publicUrl)
  const followed = await followCallbackCarriers({ ports, log })
  const metrics = createMetrics()
  const settings = { carriers: followed, clock: ports.clock, gate: admissionGate(100), log, metrics, ...limits }
  const app = createServiceApp({
    ...{ log, metrics, service: 'callbacks' },
    mounted: ['/', callbacksRouter(store(createProcessing(ports)), settings)],
    notFound: callbacksNotFound({ clock: ports.clock, log }),
    answerError: (_request, response) => response.status(500).send('Error'),
  })
  return {
    ports,
    app,
    followed,
    /** Sends a callback as the provider would, but with a Host header that differs from the public URL. */
    send: ({ method, url, headers, body }: SentCallback) => {
      const { pathname, search } = new URL(url)
      const sent = method === 'GET' ? request(app).get(pathname + search) : request(app).post(pathname + search)
      sent.set(headers)
      return body === '' ? sent : sent.send(body)
    },
    /** Returns the number of callbacks of a carrier with this result. */
    counted: async (carrier: string, result: string): Promise<number | undefined> => {
      const text = await metrics.registry.metrics()
      const line = text.match(`gateway_callbacks_total\\{carrier="${carrier}",result="${result}"\\} (\\d+)`)
      return line === null ? undefined : Number(line[1])
    },
    stop: () => followed.stop(),
  }
}

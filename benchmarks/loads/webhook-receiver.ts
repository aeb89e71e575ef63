import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** So many bodies are kept, to be pushed again without the gateway. */
const bodiesMax = 200
const secondsMax = 300

/** What came since the last count. */
interface Received {
  readonly requests: number
  readonly events: number
  /** From the first request to the last, s. */
  readonly seconds: number
  readonly bodies: readonly string[]
}

let requests = 0
let events = 0
let [first, last] = [0, 0]
let bodies: string[] = []

/** A request whose URL ends so is answered after 20 ms, as from another place; others at once. */
export const distant = '?distant'
const distantMilliseconds = 20

/** Starts a receiver on 127.0.0.1 that answers 200, and goes on until its process ends. */
export async function runReceiver(_: object): Promise<{ readonly url: string }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      count(Buffer.concat(chunks).toString('utf8'))
      if (request.url?.endsWith(distant) === true) setTimeout(() => response.end('ok'), distantMilliseconds)
      else response.end('ok')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events` }
}

function count(body: string): void {
  last = performance.now()
  if (requests++ === 0) first = last
  events += body.split('"sequence":').length - 1
  if (bodies.length < bodiesMax) bodies.push(body)
}

/** Waits until so many events have come, tells of them, and begins anew. Throws if that takes too long. */
export async function runReceived(wanted: { readonly events: number }): Promise<Received> {
  const deadline = performance.now() + secondsMax * 1000
  while (events < wanted.events) {
    if (performance.now() > deadline) throw new Error(`only ${events} of ${wanted.events} events came`)
    await delay(5)
  }
  const received = { requests, events, seconds: (last - first) / 1000, bodies }
  requests = events = 0
  bodies = []
  return received
}

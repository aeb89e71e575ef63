import { createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** Number of bodies that are kept, to be pushed again without the gateway. */
const bodiesMax = 200
const secondsMax = 300

/** Requests and events received since the last count. */
interface Received {
  readonly requests: number
  readonly events: number
  /** Time from the first request to the last, in seconds. */
  readonly seconds: number
  readonly bodies: readonly string[]
}

let requests = 0
let events = 0
let [first, last] = [0, 0]
let bodies: string[] = []

/** Ending of URLs that are answered after 20 ms, like a distant receiver. Others are answered at once. */
export const distant = '?distant'
const distantMilliseconds = 20

const headEnd = Buffer.from('\r\n\r\n')
const eventMark = Buffer.from('"sequence":')
const answer = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok'

/** Starts a receiver on 127.0.0.1 that answers 200 until its process ends, with as little CPU as possible. */
export async function runReceiver(_: object): Promise<{ readonly url: string }> {
  const server = createServer({ noDelay: true }, receive)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events` }
}

/** Reads requests with a `content-length`, one at a time. */
function receive(socket: Socket): void {
  let chunks: Buffer[] = []
  let length = 0
  let expected = 0

  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    length += chunk.length
    if (length < expected) return
    const all = chunks.length === 1 ? chunk : Buffer.concat(chunks)
    chunks = [all]
    const end = all.indexOf(headEnd)
    if (end < 0) return
    const head = all.toString('latin1', 0, end)
    expected = end + headEnd.length + Number(/^content-length: *(\d+)/im.exec(head)?.[1])
    if (length < expected) return
    if (length > expected) throw new Error('a request came before the one before it was answered')
    chunks = []
    length = expected = 0
    count(all, end + headEnd.length)
    if (head.slice(0, head.indexOf('\r')).includes(distant)) setTimeout(() => socket.write(answer), distantMilliseconds)
    else socket.write(answer)
  })
  socket.on('error', () => socket.destroy())
}

function count(request: Buffer, body: number): void {
  last = performance.now()
  if (requests++ === 0) first = last
  for (let at = request.indexOf(eventMark, body); at >= 0; at = request.indexOf(eventMark, at + 1)) events++
  if (bodies.length < bodiesMax) bodies.push(request.toString('utf8', body))
}

/** Waits until this number of events was received, returns the counts and resets them. Throws after a time limit. */
export async function runReceived(target: { readonly events: number }): Promise<Received> {
  const deadline = performance.now() + secondsMax * 1000
  while (events < target.events) {
    if (performance.now() > deadline) throw new Error(`only ${events} of ${target.events} events came`)
    await delay(5)
  }
  const received = { requests, events, seconds: (last - first) / 1000, bodies }
  requests = events = 0
  bodies = []
  return received
}

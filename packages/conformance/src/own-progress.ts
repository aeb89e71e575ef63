import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** Milliseconds between two measurements of this process. A measurement counts at most this much towards a deadline. */
const measureMilliseconds = 100

/**
 * Calls `expire` after this many seconds in which this process made progress, and returns a function that cancels it.
 * Time in which the process did not run (a starved or suspended machine) does not count: each measurement counts 100
 * ms, however late it is.
 */
export function afterProgress(seconds: number, expire: () => void): () => void {
  let looks = Math.ceil((seconds * 1000) / measureMilliseconds)
  const timer = setInterval(() => {
    looks--
    if (looks > 0) return
    clearInterval(timer)
    expire()
  }, measureMilliseconds)
  return () => clearInterval(timer)
}

/** Maximum delay on a healthy machine, in milliseconds. */
const ordinaryMilliseconds = 50

/** Milliseconds of delay that can falsify a case: in one delay, or in several that together reach `largeShare`. */
const longMilliseconds = 500

/** Share of a case's duration that several delays must reach together to falsify the case. */
const largeShare = 0.2

/**
 * Measures how late this process is scheduled: ten times a second it sets a timer and sends a byte to its own echo
 * server over the loopback network. The delay is the time from when the timer was due until the echo arrives.
 */
export class OwnProgress {
  readonly #server: Server
  readonly #socket: Socket
  readonly #delays: { readonly at: number; readonly milliseconds: number }[] = []
  #due = performance.now()
  #isClosed = false

  private constructor(server: Server, socket: Socket) {
    this.#server = server
    this.#socket = socket
  }

  static async start(): Promise<OwnProgress> {
    const server = createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('the echo server has no port')
    const socket = connect(address.port, '127.0.0.1').setNoDelay(true)
    await once(socket, 'connect')
    const progress = new OwnProgress(server, socket)
    void progress.#measure().catch(() => undefined)
    return progress
  }

  /** Returns why a case that began at `begun` (`performance.now()`) cannot be judged, or undefined if it can. */
  reasonForDelay(begun: number): string | undefined {
    const now = performance.now()
    const delays = this.#delays.filter(({ at }) => at > begun).map(({ milliseconds }) => milliseconds)
    delays.push(Math.max(0, now - Math.max(this.#due, begun)))
    const [longest, lost] = [Math.max(...delays), sum(delays.filter((one) => one > ordinaryMilliseconds))]
    const isHeldUp = longest >= longMilliseconds || (lost >= longMilliseconds && lost >= largeShare * (now - begun))
    if (!isHeldUp) return undefined
    return `this machine was busy: it held up the suite for ${inSeconds(lost)} of ${inSeconds(now - begun)} s`
  }

  close(): void {
    this.#isClosed = true
    this.#socket.destroy()
    this.#server.close()
  }

  async #measure(): Promise<void> {
    while (!this.#isClosed) {
      this.#due = performance.now() + measureMilliseconds
      await delay(measureMilliseconds)
      this.#socket.write('.')
      await once(this.#socket, 'data')
      const at = performance.now()
      this.#delays.push({ at, milliseconds: at - this.#due })
    }
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

const inSeconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(1)

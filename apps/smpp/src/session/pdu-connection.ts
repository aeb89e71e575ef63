import type { Socket } from 'node:net'
import { pduReader, pduWriter, type Pdu, type ReceivedPdu } from '@gateway/smpp'

export interface PduConnectionEvents {
  received(pdu: ReceivedPdu): void
  /** The connection has ended: the client closed it, it broke, or `destroy` was called. Called once. */
  ended(): void
}

export interface PduConnectionLimits {
  /** Octets that the client has not read, beyond which it is disconnected. */
  readonly unreadOctetsMax: number
  /** PDUs of one second, beyond which the rest is read in the next second. */
  readonly pdusPerSecondMax: number
}

export const connectionLimits: PduConnectionLimits = { unreadOctetsMax: 262_144, pdusPerSecondMax: 5000 }

/** Maximum command_length. A submit_multi with 254 numbers and a text of 918 characters has less than 8000 octets. */
const commandLengthMax = 16_384
/** Milliseconds for which the client may keep its side open after the server has ended its own. */
const goodbyeMilliseconds = 1000

/**
 * Connection of a client that carries PDUs.
 *
 *   open --end--> ending --all octets sent--> ended
 *   open --destroy, too much unread, error, closed by the client--> ended
 *
 * All PDUs written in one turn of the event loop are sent with one write. Memory is bounded: at most one incomplete PDU
 * is buffered, and a client that does not read is disconnected.
 */
export class PduConnection {
  readonly #socket: Socket
  readonly #events: PduConnectionEvents
  readonly #limits: PduConnectionLimits
  readonly #reader = pduReader(commandLengthMax)
  readonly #writer = pduWriter(2048)
  #state: 'open' | 'ending' | 'ended' = 'open'
  #isFlushPlanned = false
  #second = 0
  #pdusInSecond = 0

  constructor(socket: Socket, events: PduConnectionEvents, limits: PduConnectionLimits = connectionLimits) {
    this.#socket = socket
    this.#events = events
    this.#limits = limits
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('error', () => socket.destroy())
    socket.on('end', () => this.end())
    socket.on('close', () => this.#close())
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** Writes a PDU, which is sent at the end of this turn. Ignored if the connection is ending. */
  write(pdu: Pdu): void {
    if (this.#state !== 'open') return
    this.#writer.write(pdu)
    if (this.#isFlushPlanned) return
    this.#isFlushPlanned = true
    queueMicrotask(() => this.#flush())
  }

  /** Sends the PDUs written so far and closes the connection. */
  end(): void {
    if (this.#state !== 'open') return
    this.#flush()
    this.#state = 'ending'
    this.#socket.end()
    setTimeout(() => this.#socket.destroy(), goodbyeMilliseconds).unref()
  }

  /** Closes the connection at once. */
  destroy(): void {
    this.#socket.destroy()
  }

  #flush(): void {
    this.#isFlushPlanned = false
    if (this.#state !== 'open' || this.#writer.length === 0) return
    this.#socket.write(this.#writer.take())
    if (this.#socket.writableLength > this.#limits.unreadOctetsMax) this.destroy()
  }

  #receive(chunk: Buffer): void {
    this.#reader.each(chunk, (pdu) => {
      if (this.#state !== 'open') return
      this.#pdusInSecond++
      this.#events.received(pdu)
    })
    this.#limitPace()
  }

  /** Stops reading for the rest of a second in which too many PDUs arrived. */
  #limitPace(): void {
    const now = performance.now()
    const second = Math.floor(now / 1000)
    if (second !== this.#second) this.#pdusInSecond = 0
    this.#second = second
    if (this.#pdusInSecond <= this.#limits.pdusPerSecondMax || this.#state !== 'open') return
    this.#socket.pause()
    setTimeout(() => this.#socket.resume(), 1000 - (now % 1000)).unref()
  }

  #close(): void {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    this.#events.ended()
  }
}

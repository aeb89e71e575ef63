import type { Socket } from 'node:net'
import { pduReader, pduWriter, type Pdu, type ReceivedPdu } from '@gateway/smpp'

export interface PduConnectionEvents {
  /** Called with the header of each PDU. Returns true if the PDU was answered, so that it is not decoded. */
  answered(commandId: number, sequence: number): boolean
  received(pdu: ReceivedPdu): void
  /** The connection has ended: the client closed it, it broke, or `destroy` was called. Called once. */
  ended(): void
}

export interface PduConnectionLimits {
  /** Octets that the client has not read, beyond which it is disconnected. */
  readonly unreadOctetsMax: number
  /** PDUs without work (`countIdle`) of one second, beyond which the connection is flooded. */
  readonly idlePerSecondMax: number
}

export const connectionLimits: PduConnectionLimits = { unreadOctetsMax: 262_144, idlePerSecondMax: 1000 }

/** PDUs of a flooded connection that are read in a millisecond. They take about a tenth of the process. */
const floodPerMillisecond = 100
/** Longest time without reading from a flooding client that has not read all its answers. */
const unreadMilliseconds = 1000

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
  #idleInSecond = 0

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

  /** Counts a PDU that causes no work other than its answer: a refused one, or enquire_link. */
  countIdle(): void {
    this.#idleInSecond++
  }

  /** True if more PDUs without work arrived in this second than a client has a reason to send. */
  get isFlooded(): boolean {
    return this.#idleInSecond > this.#limits.idlePerSecondMax
  }

  #receive(chunk: Buffer): void {
    const second = Math.floor(performance.now() / 1000)
    if (second !== this.#second) this.#idleInSecond = 0
    this.#second = second
    const before = this.#idleInSecond
    this.#reader.each(
      chunk,
      (pdu) => {
        if (this.#state === 'open') this.#events.received(pdu)
      },
      (commandId, sequence) => this.#state !== 'open' || this.#events.answered(commandId, sequence),
    )
    if (this.isFlooded && this.#state === 'open') this.#rest(this.#idleInSecond - before)
  }

  /**
   * Reads nothing for some milliseconds after a chunk of this many PDUs without work, so that a flood leaves time for
   * other connections. The pause is short, so that the flooding client still sees all its answers. It is longer for a
   * client that is slow to read them, so that the client is not disconnected for a moment without reading.
   */
  #rest(pdus: number): void {
    this.#socket.pause()
    setTimeout(() => this.#resumeOnceRead(), pdus / floodPerMillisecond).unref()
  }

  /** Reads again as soon as the client has read its answers, at the latest after a second. */
  #resumeOnceRead(): void {
    const socket = this.#socket
    const resume = (): void => {
      clearTimeout(timer)
      socket.off('drain', resume).resume()
    }
    const timer = setTimeout(resume, socket.writableLength > 0 ? unreadMilliseconds : 0).unref()
    socket.on('drain', resume)
  }

  #close(): void {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    this.#events.ended()
  }
}

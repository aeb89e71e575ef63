import type { Socket } from 'node:net'
import { pduReader, pduWriter, type Pdu, type ReceivedPdu } from '@gateway/smpp'
import type { SmppSettings } from '../settings.ts'
import { connect, connectionProblem } from './connect.ts'

export interface PduSocketEvents {
  /** The connection is made and bytes may be sent. */
  connected(): void
  /** The PDUs written so far are about to be handed to the kernel. */
  flushing(): void
  /** Bytes have arrived; `received` follows for each PDU that they complete, and then `arrived`. */
  arriving(): void
  received(pdu: ReceivedPdu): void
  arrived(): void
  /** The connection could not be made, or broke. Not called after `destroy` or `endAfterFlush`. */
  failed(reason: string): void
}

/** Time that the other side has to close its end of the connection. */
export const goodbyeMilliseconds = 2000

/**
 * TCP or TLS connection that carries PDUs.
 *
 *   connecting --connected--> open --endAfterFlush, destroy, failure--> ended
 *
 * All PDUs written in one turn of the event loop are sent by one write, and before anything that follows that turn.
 */
export class PduSocket {
  readonly #events: PduSocketEvents
  readonly #socket: Socket
  readonly #reader = pduReader()
  readonly #writer = pduWriter()
  #isEnded = false
  #isFlushPlanned = false
  /** Octets of the PDU that is being handled. */
  #current: { bytes: Buffer; start: number; end: number } = { bytes: Buffer.alloc(0), start: 0, end: 0 }

  constructor(settings: Pick<SmppSettings, 'host' | 'port' | 'tls'>, events: PduSocketEvents) {
    this.#events = events
    this.#socket = connect(settings, () => !this.#isEnded && events.connected())
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#socket.on('error', (problem) => this.#fail(connectionProblem(problem)))
    this.#socket.on('close', () => this.#fail('the other side closed the connection'))
  }

  /** Writes a PDU and sends it at the end of this turn. Throws a RangeError if a value does not fit its field. */
  write(pdu: Pdu): void {
    this.#writer.write(pdu)
    if (this.#isFlushPlanned) return
    this.#isFlushPlanned = true
    queueMicrotask(this.#flush)
  }

  /** Returns a copy of the octets of the PDU that `received` is being called with. */
  octets(): Buffer {
    const { bytes, start, end } = this.#current
    return Buffer.from(bytes.subarray(start, end))
  }

  /** Sends the PDUs written so far and ends the connection. */
  endAfterFlush(): void {
    this.#flush()
    this.#isEnded = true
    this.#socket.end()
    setTimeout(() => this.#socket.destroy(), goodbyeMilliseconds).unref()
  }

  /** Ends the connection at once. */
  destroy(): void {
    this.#isEnded = true
    this.#socket.destroy()
  }

  /**
   * Hands the PDUs of one turn to the kernel in one write, so that the kernel has them before the next messages are
   * marked (P-6).
   */
  #flush = (): void => {
    this.#isFlushPlanned = false
    if (this.#isEnded || this.#writer.length === 0) return
    this.#events.flushing()
    this.#socket.write(this.#writer.take())
  }

  #receive(chunk: Buffer): void {
    this.#events.arriving()
    this.#reader.each(chunk, this.#take)
    if (!this.#isEnded) this.#events.arrived()
  }

  #take = (pdu: ReceivedPdu, bytes: Buffer, start: number, end: number): void => {
    if (this.#isEnded) return
    this.#current = { bytes, start, end }
    this.#events.received(pdu)
  }

  #fail(reason: string): void {
    if (!this.#isEnded) this.#events.failed(reason)
  }
}

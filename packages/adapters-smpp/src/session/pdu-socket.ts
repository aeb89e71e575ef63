import { type Socket, connect as connectTcp, isIP } from 'node:net'
import { pduReader, pduWriter, type Pdu, type ReceivedPdu } from '@gateway/smpp'
import { connect as connectTls } from 'node:tls'
import type { SmppSettings } from '../settings.ts'

/**
 * Opens a connection. `ready` is called once bytes may be sent; over TLS, once the carrier's certificate was verified.
 */
export function connect({ host, port, tls }: Pick<SmppSettings, 'host' | 'port' | 'tls'>, ready: () => void): Socket {
  if (tls === undefined) return connectTcp({ host, port, noDelay: true }, ready)
  const { serverName = isIP(host) === 0 ? host : undefined, ca, cert, key } = tls
  const options = { host, port, minVersion: 'TLSv1.2' as const, servername: serverName ?? '', ca, cert, key }
  const socket = connectTls(options, ready)
  socket.setNoDelay(true)
  return socket
}

/** Explanations of Node's TLS error codes for operators, with the setting that helps. */
const WORDS: Readonly<Record<string, string>> = {
  SELF_SIGNED_CERT_IN_CHAIN: "the carrier's certificate is of an unknown authority (ca)",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the carrier's certificate is of an unknown authority (ca)",
  UNABLE_TO_GET_ISSUER_CERT: "the carrier's certificate is of an unknown authority (ca)",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the carrier's certificate is of an unknown authority (ca)",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the carrier's certificate is of an unknown authority (ca)",
  ERR_TLS_CERT_ALTNAME_INVALID: "the carrier's certificate is for another name (serverName)",
  CERT_HAS_EXPIRED: "the carrier's certificate has expired",
  CERT_NOT_YET_VALID: "the carrier's certificate is not valid yet",
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'the carrier wants a certificate of ours (cert, key)',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'the carrier does not know the authority of our certificate (cert)',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the carrier does not speak TLS at this port',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the carrier does not speak TLS at this port',
}

/** Describes why a connection could not be made, or broke: an explanation, and Node's code or message. */
export function connectionProblem(problem: Error & { readonly code?: string }): string {
  const words = problem.code === undefined ? undefined : WORDS[problem.code]
  return words === undefined ? problem.message : `${words}: ${problem.code}`
}

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

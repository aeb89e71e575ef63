import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import {
  encodePdu,
  pduReader,
  pduWriter,
  type Bind,
  type DeliverSm,
  type EmptyPdu,
  type Pdu,
  type ReceivedPdu,
} from '@gateway/smpp'
import type { JournalEntry, PduEntry } from './journal.ts'

/** One connection of a client. */
export interface Link {
  /** Number of the link in this run, from 1. */
  readonly number: number
  readonly bound: { readonly systemId: string; readonly kind: Bind['command'] } | undefined
  /** Number of requests to the client without a response. */
  readonly unanswered: number
  bind(systemId: string, kind: Bind['command']): void
  /** Sends a PDU at the end of this turn of the event loop, in one write with the others of the turn. */
  send(pdu: Pdu): void
  /** Sends a PDU with a wrong command_length, computed from the right one. */
  sendWithLength(pdu: Pdu, lengthOf: (right: number) => number): void
  /**
   * Assigns a sequence number and sends the PDU. `answered` is called once with the command_status of the response, or
   * undefined if none arrived in time or the link closed.
   */
  request(pdu: RequestPdu, answered: (status: number | undefined) => void): void
  /** Settles the request of a response or generic_nack. Ignores a sequence number without a request. */
  settle(sequence: number, status: number): void
  /** Writes the PDUs sent in this turn. */
  flush(): void
  /** Closes the connection after the PDUs sent so far. */
  end(): void
  /** Closes the connection at once. */
  destroy(): void
}

/** Request whose sequence number is assigned when it is sent. */
export type RequestPdu = (DeliverSm | EmptyPdu) & { sequence: number }

export interface LinkHandlers {
  received(link: Link, pdu: ReceivedPdu): void
  /** A PDU was sent; call `flush` at the end of the turn. */
  dirty(link: Link): void
  closed(link: Link): void
  /** Returns n if every nth PDU is sent with octets after it that are not a TLV; 0 if none is. */
  oddTailEvery(): number
  now(): number
  note(entry: JournalEntry): void
  notePdu(entry: PduEntry): void
}

interface Request {
  answered: (status: number | undefined) => void
  readonly deadline: number
}

const settled = (): void => undefined

/**
 * Settles a request and drops its callback, because V8 keeps the old hash tables of a Map, and the values in them,
 * alive for long.
 */
function answer(request: Request, status: number | undefined): void {
  const { answered } = request
  request.answered = settled
  answered(status)
}

const sequenceMax = 0x7fffffff
/** Maximum number of unread octets, beyond which the client is disconnected. */
const unreadMax = 16 << 20

/** Ends a socket, and destroys it if the client does not close its side within a second. */
function endSocket(socket: Socket): void {
  socket.end()
  setTimeout(() => socket.destroy(), 1000).unref()
}

/** Serves a connection until it closes. Requests expire after `timeoutMilliseconds`. */
export const serveLink = (socket: Socket, number: number, timeoutMilliseconds: number, handlers: LinkHandlers): Link =>
  new SocketLink(socket, number, timeoutMilliseconds, handlers)

/**
 *   open --end--> ending: nothing further is sent --flush--> half closed --the client closes, or a second--> closed
 */
class SocketLink implements Link {
  readonly number: number
  readonly #socket: Socket
  readonly #timeoutMilliseconds: number
  readonly #handlers: LinkHandlers
  readonly #reader = pduReader()
  readonly #writer = pduWriter(1 << 14)
  /** Requests without a response, in the order of their deadlines. */
  readonly #requests = new Map<number, Request>()
  /** Octets of this turn that precede those in the writer. */
  readonly #ready: Buffer[] = []
  readonly #sweep: NodeJS.Timeout
  #bound: Link['bound']
  #sequence = 0
  /** Number of PDUs sent while the personality adds octets to some of them. */
  #sent = 0
  #isEnding = false
  /** Common deadline of the requests that are sent in one write. */
  #deadline: number | undefined

  constructor(socket: Socket, number: number, timeoutMilliseconds: number, handlers: LinkHandlers) {
    this.number = number
    this.#socket = socket
    this.#timeoutMilliseconds = timeoutMilliseconds
    this.#handlers = handlers
    this.#sweep = setInterval(() => this.#expire(), Math.min(1000, timeoutMilliseconds / 2)).unref()
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#closed())
    this.#note({ event: 'opened' })
  }

  get bound(): Link['bound'] {
    return this.#bound
  }

  get unanswered(): number {
    return this.#requests.size
  }

  bind(systemId: string, kind: Bind['command']): void {
    this.#bound = { systemId, kind }
  }

  send(pdu: Pdu): void {
    if (this.#isEnding) return
    const every = this.#handlers.oddTailEvery()
    if (every > 0 && ++this.#sent % every === 0) {
      this.#sendWithTail(pdu)
      return
    }
    const octets = this.#writer.write(pdu)
    this.#notePdu('sent', pdu, this.#writer.bytes, this.#writer.end - octets, this.#writer.end)
    this.#handlers.dirty(this)
  }

  sendWithLength(pdu: Pdu, lengthOf: (right: number) => number): void {
    if (this.#isEnding) return
    const bytes = encodePdu(pdu)
    const length = lengthOf(bytes.length)
    bytes.writeUInt32BE(length)
    this.#ready.push(this.#writer.take(), bytes)
    this.#note({ event: 'sent', pdu, wrongLength: length })
    this.#handlers.dirty(this)
  }

  request(pdu: RequestPdu, answered: Request['answered']): void {
    this.#sequence = this.#sequence === sequenceMax ? 1 : this.#sequence + 1
    this.#deadline ??= performance.now() + this.#timeoutMilliseconds
    this.#requests.set(this.#sequence, { answered, deadline: this.#deadline })
    pdu.sequence = this.#sequence
    this.send(pdu)
  }

  settle(sequence: number, status: number): void {
    const request = this.#requests.get(sequence)
    this.#requests.delete(sequence)
    if (request !== undefined) answer(request, status)
  }

  flush(): void {
    this.#deadline = undefined
    const [ready, socket] = [this.#ready, this.#socket]
    ready.push(this.#writer.take())
    const bytes = ready.length === 1 ? ready[0] : Buffer.concat(ready)
    ready.length = 0
    if (bytes !== undefined && bytes.length > 0 && !socket.destroyed) socket.write(bytes)
    if (socket.writableLength > unreadMax) socket.destroy()
    else if (this.#isEnding) endSocket(socket)
  }

  end(): void {
    this.#isEnding = true
    this.#handlers.dirty(this)
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#reader.each(chunk, (pdu, bytes, start, end) => {
      // Stores a malformed PDU as decoded, because decoding its octets again without the surrounding octets may find
      // another error.
      if (pdu.command === 'malformed') this.#note({ event: 'received', pdu })
      else this.#notePdu('received', pdu, bytes, start, end)
      if (!this.#isEnding) this.#handlers.received(this, pdu)
    })
  }

  #closed(): void {
    clearInterval(this.#sweep)
    this.#isEnding = true
    this.#note({ event: 'closed' })
    this.#handlers.closed(this)
    const outstanding = [...this.#requests.values()]
    this.#requests.clear()
    for (const request of outstanding) answer(request, undefined)
  }

  /** Settles requests past their deadline. */
  #expire(): void {
    for (const [key, request] of this.#requests) {
      if (request.deadline > performance.now()) return
      this.#requests.delete(key)
      answer(request, undefined)
    }
  }

  /**
   * Sends a PDU with additional octets at its end: one NUL, as a real SMSC does, or two or three random octets, which
   * are fewer than the header of a TLV.
   */
  #sendWithTail(pdu: Pdu): void {
    const tail = this.#sent % 3 === 0 ? Buffer.of(0) : randomBytes(1 + (this.#sent % 3))
    const bytes = Buffer.concat([encodePdu(pdu), tail])
    bytes.writeUInt32BE(bytes.length)
    this.#ready.push(this.#writer.take(), bytes)
    this.#notePdu('sent', pdu, bytes, 0, bytes.length)
    this.#handlers.dirty(this)
  }

  #note(entry: Pick<JournalEntry, 'event' | 'pdu' | 'wrongLength'>): void {
    const systemId = this.#bound?.systemId ?? ''
    this.#handlers.note({ at: this.#handlers.now(), link: this.number, systemId, ...entry })
  }

  #notePdu(event: PduEntry['event'], pdu: ReceivedPdu, bytes: Buffer, start: number, end: number): void {
    const systemId = this.#bound?.systemId ?? ''
    this.#handlers.notePdu({ at: this.#handlers.now(), link: this.number, systemId, event, pdu, bytes, start, end })
  }
}

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

export function serveLink(socket: Socket, number: number, timeoutMilliseconds: number, handlers: LinkHandlers): Link {
  const reader = pduReader()
  const writer = pduWriter(1 << 14)
  const requests = new Map<number, Request>()
  const ready: Buffer[] = []
  let bound: Link['bound']
  let sequence = 0
  let sent = 0
  let isEnding = false
  /** Common deadline of the requests that are sent in one write. */
  let deadline: number | undefined
  const sweep = setInterval(expire, Math.min(1000, timeoutMilliseconds / 2)).unref()

  const note = (entry: Pick<JournalEntry, 'event' | 'pdu' | 'wrongLength'>): void =>
    handlers.note({ at: handlers.now(), link: number, systemId: bound?.systemId ?? '', ...entry })

  function notePdu(event: PduEntry['event'], pdu: ReceivedPdu, bytes: Buffer, start: number, end: number): void {
    const at = handlers.now()
    handlers.notePdu({ at, link: number, systemId: bound?.systemId ?? '', event, pdu, bytes, start, end })
  }

  /**
   * Sends a PDU with additional octets at its end: one NUL, as a real SMSC does, or two or three random octets, which
   * are fewer than the header of a TLV.
   */
  function sendWithTail(pdu: Pdu): void {
    const tail = sent % 3 === 0 ? Buffer.of(0) : randomBytes(1 + (sent % 3))
    const bytes = Buffer.concat([encodePdu(pdu), tail])
    bytes.writeUInt32BE(bytes.length)
    ready.push(writer.take(), bytes)
    notePdu('sent', pdu, bytes, 0, bytes.length)
    handlers.dirty(link)
  }

  /** Settles requests past their deadline. `requests` is in the order of the deadlines. */
  function expire(): void {
    for (const [key, request] of requests) {
      if (request.deadline > performance.now()) return
      requests.delete(key)
      answer(request, undefined)
    }
  }

  const link: Link = {
    number,
    get bound() {
      return bound
    },
    get unanswered() {
      return requests.size
    },
    bind(systemId, kind) {
      bound = { systemId, kind }
    },
    send(pdu) {
      if (isEnding) return
      const every = handlers.oddTailEvery()
      if (every > 0 && ++sent % every === 0) {
        sendWithTail(pdu)
        return
      }
      const octets = writer.write(pdu)
      notePdu('sent', pdu, writer.bytes, writer.end - octets, writer.end)
      handlers.dirty(link)
    },
    sendWithLength(pdu, lengthOf) {
      if (isEnding) return
      const bytes = encodePdu(pdu)
      const length = lengthOf(bytes.length)
      bytes.writeUInt32BE(length)
      ready.push(writer.take(), bytes)
      note({ event: 'sent', pdu, wrongLength: length })
      handlers.dirty(link)
    },
    request(pdu, answered) {
      sequence = sequence === sequenceMax ? 1 : sequence + 1
      deadline ??= performance.now() + timeoutMilliseconds
      requests.set(sequence, { answered, deadline })
      pdu.sequence = sequence
      link.send(pdu)
    },
    settle(answeredSequence, status) {
      const request = requests.get(answeredSequence)
      requests.delete(answeredSequence)
      if (request !== undefined) answer(request, status)
    },
    flush() {
      deadline = undefined
      ready.push(writer.take())
      const bytes = ready.length === 1 ? ready[0] : Buffer.concat(ready)
      ready.length = 0
      if (bytes !== undefined && bytes.length > 0 && !socket.destroyed) socket.write(bytes)
      if (socket.writableLength > unreadMax) socket.destroy()
      else if (isEnding) endSocket(socket)
    },
    end() {
      isEnding = true
      handlers.dirty(link)
    },
    destroy: () => void socket.destroy(),
  }

  socket.setNoDelay(true)
  socket.on('data', (chunk: Buffer) => {
    reader.each(chunk, (pdu, bytes, start, end) => {
      // Stores a malformed PDU as decoded, because decoding its octets again without the surrounding octets may find
      // another error.
      if (pdu.command === 'malformed') note({ event: 'received', pdu })
      else notePdu('received', pdu, bytes, start, end)
      if (!isEnding) handlers.received(link, pdu)
    })
  })
  socket.on('error', () => socket.destroy())
  socket.on('close', () => {
    clearInterval(sweep)
    isEnding = true
    note({ event: 'closed' })
    handlers.closed(link)
    const outstanding = [...requests.values()]
    requests.clear()
    for (const request of outstanding) answer(request, undefined)
  })
  note({ event: 'opened' })
  return link
}

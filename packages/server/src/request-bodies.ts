import type { IncomingMessage } from 'node:http'
import type { BodyPlace } from './admission/body-memory.ts'

const nothing = Buffer.alloc(0)

/**
 * Collects the pieces of a body and joins them as they arrive, so that even pieces of one byte need no more memory than
 * one block. This is a class, because most bodies arrive in one piece, and closures would cost five objects for each of
 * them.
 */
export class ByteCollector {
  length = 0
  private block: Buffer = nothing
  /** True if the buffer was allocated here. A single piece belongs to Node, and nothing may be written behind it. */
  private isOurs = false

  add(piece: Buffer): void {
    if (this.length === 0) {
      this.block = piece
      this.isOurs = false
    } else {
      this.makeRoom(piece.length)
      piece.copy(this.block, this.length)
    }
    this.length += piece.length
  }

  /** Returns all bytes and starts anew. A single piece is returned without a copy. */
  take(): Buffer {
    const bytes = this.block.length === this.length ? this.block : this.block.subarray(0, this.length)
    this.block = nothing
    this.length = 0
    return bytes
  }

  private makeRoom(bytes: number): void {
    if (this.isOurs && this.length + bytes <= this.block.length) return
    const larger = Buffer.allocUnsafe(2 * (this.length + bytes))
    this.block.copy(larger, 0, 0, this.length)
    this.block = larger
    this.isOurs = true
  }
}

/** Body that a parser of the outer app has parsed; its bytes are no longer available. */
export interface ParsedBody {
  readonly parsed: unknown
}

/**
 * Returns the body as it was sent, or the result of an outer app's parser. Returns 'too-large' as soon as the body
 * exceeds `maxBytes`, 'overloaded' if `place` has no room, and 'aborted' if the client has disconnected. In these cases
 * the rest of the body is discarded. The bytes stay counted in `place` until the caller releases it.
 */
export const readBody = async (
  request: IncomingMessage,
  maxBytes: number,
  place: BodyPlace,
): Promise<Buffer | ParsedBody | 'too-large' | 'overloaded' | 'aborted'> => {
  const announced = Number(request.headers['content-length'] ?? NaN)
  if (request.readableEnded) return announced > maxBytes ? 'too-large' : leftOf(request, announced, maxBytes)
  if (request.destroyed) return 'aborted'
  if (announced > maxBytes) {
    request.on('error', ignore).resume()
    return 'too-large'
  }
  return collect(request, maxBytes, announced <= smallBytes ? undefined : place)
}

/**
 * Bodies whose announced size is at most this many bytes are not counted, because Node buffers as much for every
 * connection anyway.
 */
export const smallBytes = 16_384

/**
 * Returns the result of an outer app's parser. An announced length of 0 is checked first, because parsers return an
 * object for an empty body too.
 */
const leftOf = (request: ReadBefore, announced: number, maxBytes: number): Buffer | ParsedBody | 'too-large' => {
  const parsed = announced === 0 ? '' : (request.rawBody ?? request.body)
  if (parsed === undefined) throw new Error('The body of this request was read before and is not available any more.')
  if (typeof parsed !== 'string' && !(parsed instanceof Uint8Array)) return { parsed: parsed }
  const bytes =
    typeof parsed === 'string' ? Buffer.from(parsed) : Buffer.from(parsed.buffer, parsed.byteOffset, parsed.byteLength)
  return bytes.length > maxBytes ? 'too-large' : bytes
}

type ReadBefore = IncomingMessage & { readonly rawBody?: unknown; readonly body?: unknown }

const collect = (request: IncomingMessage, maxBytes: number, place: BodyPlace | undefined) =>
  new Promise<Buffer | 'too-large' | 'overloaded' | 'aborted'>((resolve) => {
    const collected = new ByteCollector()
    const add = (chunk: Buffer) => {
      if (collected.length + chunk.length > maxBytes) giveUp('too-large')
      else if (place === undefined || place.grow(chunk.length)) collected.add(chunk)
      else giveUp('overloaded')
    }
    const giveUp = (why: 'too-large' | 'overloaded') => {
      collected.take()
      if (place !== undefined) place.onEvicted = undefined
      request.off('data', add).resume()
      resolve(why)
    }
    if (place !== undefined) place.onEvicted = () => giveUp('overloaded')
    request.on('data', add)
    request.once('end', () => {
      if (place !== undefined) place.onEvicted = undefined
      resolve(collected.take())
    })
    request.on('error', ignore)
    // `close` is also emitted after `end`; the promise is already settled then.
    request.once('close', () => resolve('aborted'))
  })

// Errors are ignored, because `close` follows each of them. Without a listener for `error` Node would throw.
const ignore = () => undefined

/** Body that is read as it arrives, and only as fast as its reader asks for it. */
export interface ArrivingBody {
  /**
   * Resolves to 'bytes' when bytes can be taken. Otherwise resolves to how the body ended, with the same words as
   * `readBody`, and discards the rest of the body.
   */
  next(): Promise<'bytes' | 'end' | 'too-large' | 'overloaded' | 'aborted'>
  /**
   * Returns the bytes that arrived since the last call. The promise of `next` does not contain them, because an old
   * promise would keep them in memory (decision 0061).
   */
  take(): Buffer
  /** Makes the body discard the bytes that arrive from now on. They are only counted. */
  skip(): void
}

/**
 * Returns the body of a request that no parser has read, piece by piece as it arrives, up to `maxBytes`. All its bytes
 * stay counted in `place` until the caller releases it. Its promises never reject.
 */
export function arrivingBody(request: IncomingMessage, maxBytes: number, place: BodyPlace): ArrivingBody {
  const arrived = new ByteCollector()
  let bytes = 0
  let skipping = false
  let ended: 'end' | 'too-large' | 'overloaded' | 'aborted' | undefined
  let wake: (() => void) | undefined

  function end(how: typeof ended): void {
    ended ??= how
    place.onEvicted = undefined
    wake?.()
  }

  function giveUp(how: 'too-large' | 'overloaded'): void {
    arrived.take()
    end(how)
    request.off('data', add).resume()
  }

  function add(chunk: Buffer): void {
    bytes += chunk.length
    if (bytes > maxBytes) giveUp('too-large')
    else if (skipping) return
    else if (!place.grow(chunk.length)) giveUp('overloaded')
    else {
      arrived.add(chunk)
      request.pause()
      wake?.()
    }
  }

  place.onEvicted = () => giveUp('overloaded')
  request.on('error', () => undefined) // Node throws an error without a listener. `close` follows.
  request.once('end', () => end('end'))
  request.once('close', () => end('aborted'))
  if (Number(request.headers['content-length'] ?? NaN) > maxBytes) giveUp('too-large')
  else if (request.destroyed) end('aborted')
  else request.on('data', add)

  return {
    async next() {
      for (;;) {
        if (arrived.length > 0) return 'bytes'
        if (ended !== undefined) return ended
        const more = new Promise<void>((resolve) => (wake = resolve))
        request.resume()
        await more
      }
    },
    take: () => arrived.take(),
    skip() {
      skipping = true
      arrived.take()
      place.onEvicted = undefined
      place.release()
    },
  }
}

/** Returns an `ArrivingBody` for a body that was already read, or for the reason why reading it failed. */
export function arrivedBody(read: Buffer | 'too-large' | 'overloaded' | 'aborted'): ArrivingBody {
  let unread = typeof read === 'string' ? nothing : read
  const take = (): Buffer => {
    const bytes = unread
    unread = nothing
    return bytes
  }
  return {
    next: () => Promise.resolve(unread.length > 0 ? 'bytes' : typeof read === 'string' ? read : 'end'),
    take,
    skip: () => void take(),
  }
}

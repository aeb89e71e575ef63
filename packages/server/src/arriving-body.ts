import type { IncomingMessage } from 'node:http'
import type { BodyPlace } from './body-memory.ts'
import { ByteCollector } from './byte-collector.ts'

/** A body that is read as it arrives, and no faster than it is asked for. */
export interface ArrivingBody {
  /** 'bytes': more has come, to be taken. Else how it ended: what follows is thrown away then, as of `readBody`. */
  next(): Promise<'bytes' | 'end' | 'too-large' | 'overloaded' | 'aborted'>
  /** What has come and was not taken. No promise carries bytes: an old one would keep them (decision 0061). */
  take(): Buffer
  /** What comes from now on is only counted, and its bytes are not held. */
  skip(): void
}

/**
 * The body of a request that nobody has begun to read, as it came over the wire: at most `maxBytes`. All bytes stay in `place`, as of
 * `readBody`, until the caller releases it. Never rejects.
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
  request.on('error', () => undefined) // `close` follows and says it; without a listener node throws.
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

/** A body that has been read already, or how that ended. */
export function arrivedBody(read: Buffer | 'too-large' | 'overloaded' | 'aborted'): ArrivingBody {
  let left = typeof read === 'string' ? nothing : read
  const take = (): Buffer => {
    const bytes = left
    left = nothing
    return bytes
  }
  return {
    next: () => Promise.resolve(left.length > 0 ? 'bytes' : typeof read === 'string' ? read : 'end'),
    take,
    skip: () => void take(),
  }
}

const nothing = Buffer.alloc(0)

import type { ServerResponse } from 'node:http'
import { onceClosed } from '../write-response.ts'

/** Memory of one request body. */
export interface BodyPlace {
  /** Reserves this many more bytes. Returns false if there is no room; all bytes of this place are released then. */
  grow(bytes: number): boolean
  /**
   * Called if this body is evicted, because other bodies need its room while it is still being read. Its bytes are
   * released.
   */
  onEvicted: (() => void) | undefined
  /**
   * True if only bodies of other owners may evict this body. If its own owner needs room, the new body is refused
   * instead. False at first.
   */
  staysForOwner: boolean
  /** Releases the bytes. Calling it again does nothing. */
  release(): void
}

/** Limit on the bytes of all request bodies of one process. */
export interface BodyMemory {
  readonly bytes: number
  /** Returns an empty place for an account or, before the account is known, for a network. */
  open(owner: string): BodyPlace
}

interface BodyInMemory {
  readonly owner: Owner
  readonly place: BodyPlace
  bytes: number
  /** Index of this body in the list of its owner. */
  at: number
}

/** Bodies of one owner, in a list instead of a set (decision 0061). */
interface Owner {
  readonly bodies: BodyInMemory[]
  bytes: number
}

const givesWay = ({ place, owner }: BodyInMemory, asking: BodyInMemory): boolean =>
  place.onEvicted !== undefined && !(place.staysForOwner && owner === asking.owner)

function remove(body: BodyInMemory[], gone: BodyInMemory): void {
  const last = body.pop()
  if (last === undefined || last === gone) return
  body[gone.at] = last
  last.at = gone.at
}

/**
 * Returns memory for `bytesMax` bytes of bodies. If there is no room, the owner with the most bytes loses its largest
 * body that is still being read; this may be the body that asks for room. An owner gets at most half of the memory,
 * because bodies that are completely read cannot be evicted.
 */
export function bodyMemory(bytesMax: number): BodyMemory {
  const owners = new Map<string, Owner>()
  let total = 0

  function add(body: BodyInMemory, bytes: number): void {
    body.bytes += bytes
    body.owner.bytes += bytes
    total += bytes
  }

  function evict(body: BodyInMemory): void {
    const { onEvicted } = body.place
    body.place.release()
    onEvicted?.()
  }

  /** Returns the body to evict if `asking` grows by `bytes`. */
  function victim(asking: BodyInMemory, bytes: number): BodyInMemory {
    let heaviest = asking.owner
    let most = asking.owner.bytes + bytes
    if (most <= bytesMax / 2) {
      for (const owner of owners.values()) if (owner.bytes > most) [heaviest, most] = [owner, owner.bytes]
    }
    let largest = asking
    let size = heaviest === asking.owner ? asking.bytes + bytes : 0
    for (const body of heaviest.bodies) {
      if (body !== asking && body.bytes > size && givesWay(body, asking)) [largest, size] = [body, body.bytes]
    }
    return largest
  }

  function grow(body: BodyInMemory, bytes: number): boolean {
    while (total + bytes > bytesMax || body.owner.bytes + bytes > bytesMax / 2) {
      const evicted = victim(body, bytes)
      if (evicted === body) {
        body.place.release()
        return false
      }
      evict(evicted)
    }
    add(body, bytes)
    return true
  }

  return {
    get bytes() {
      return total
    },
    open(name) {
      let body: BodyInMemory | undefined
      const hold = (): BodyInMemory => {
        const owner = owners.get(name) ?? { bodies: [], bytes: 0 }
        owners.set(name, owner)
        const made = { owner, place, bytes: 0, at: owner.bodies.length }
        owner.bodies.push(made)
        return made
      }
      const place: BodyPlace = {
        onEvicted: undefined,
        staysForOwner: false,
        grow: (bytes) => grow((body ??= hold()), bytes),
        release() {
          if (body === undefined) return
          add(body, -body.bytes)
          remove(body.owner.bodies, body)
          if (body.owner.bodies.length === 0) owners.delete(name)
          body = undefined
          place.onEvicted = undefined
        },
      }
      return place
    },
  }
}

const longMin = 16_384

export interface Room<Answer> {
  /** Empty place of the requesting account. */
  readonly place: BodyPlace
  readonly response: ServerResponse
  /** Bytes that must be free before anything is read. */
  readonly bytes: number
  /** Returns the length of an answer in UTF-16 units. */
  readonly lengthOf: (answer: Answer) => number
}

/**
 * Returns the answer of `read`. Returns undefined if the account has no room for the answer; in that case `read` may
 * not have run. A long answer occupies memory until the client has read it, as text and in the connection's buffers, so
 * it counts as a body of its account. If other accounts need the room, its connection is destroyed.
 */
export async function withRoom<Answer>(
  { place, response, bytes, lengthOf }: Room<Answer>,
  read: () => Answer | Promise<Answer>,
): Promise<Answer | undefined> {
  if (bytes > 0 && !place.grow(bytes)) return undefined
  const answer = await leaving(place, read)
  const length = lengthOf(answer)
  if (length < longMin || response.destroyed) return answer
  if (!place.grow(2 * length)) return undefined
  place.onEvicted = () => response.destroy()
  place.staysForOwner = true
  onceClosed(response, () => place.release())
  return answer
}

async function leaving<Answer>(place: BodyPlace, read: () => Answer | Promise<Answer>): Promise<Answer> {
  try {
    return await read()
  } finally {
    place.release()
  }
}

import type { ServerResponse } from 'node:http'
import { onceClosed } from '../write-response.ts'

/** The bytes of one body in memory. */
export interface BodyPlace {
  /** Room for so many bytes more; false: there is none, and all that this place held is given up. */
  grow(bytes: number): boolean
  /** Called if others need the room while the body is still read; its bytes are given up then. */
  onEvicted: (() => void) | undefined
  /** Gives way to other owners only: its own gets no room instead. False at first. */
  staysForOwner: boolean
  /** Calling it again does nothing. */
  release(): void
}

/** Bounds the bytes of all bodies that one process holds. */
export interface BodyMemory {
  readonly bytes: number
  /** A place without bytes, on behalf of an account or, before that is known, of a network. */
  open(owner: string): BodyPlace
}

interface Held {
  readonly owner: Owner
  readonly place: BodyPlace
  bytes: number
  /** Its index in the list of its owner. */
  at: number
}

/** A list, no set: see decision 0061. */
interface Owner {
  readonly held: Held[]
  bytes: number
}

const givesWay = ({ place, owner }: Held, asking: Held): boolean =>
  place.onEvicted !== undefined && !(place.staysForOwner && owner === asking.owner)

function remove(held: Held[], gone: Held): void {
  const last = held.pop()
  if (last === undefined || last === gone) return
  held[gone.at] = last
  last.at = gone.at
}

/**
 * Memory for `bytesMax` bytes of bodies. Where there is no room, the owner with most bytes gives up its largest body
 * that is still being read, be it the one that asks. No owner has more than half: what is read and worked on cannot be
 * given up.
 */
export function bodyMemory(bytesMax: number): BodyMemory {
  const owners = new Map<string, Owner>()
  let total = 0

  function add(held: Held, bytes: number): void {
    held.bytes += bytes
    held.owner.bytes += bytes
    total += bytes
  }

  function evict(held: Held): void {
    const { onEvicted } = held.place
    held.place.release()
    onEvicted?.()
  }

  /** Where `asking` would grow by so many bytes: which body gives way. */
  function victim(asking: Held, bytes: number): Held {
    let heaviest = asking.owner
    let most = asking.owner.bytes + bytes
    if (most <= bytesMax / 2) {
      for (const owner of owners.values()) if (owner.bytes > most) [heaviest, most] = [owner, owner.bytes]
    }
    let largest = asking
    let size = heaviest === asking.owner ? asking.bytes + bytes : 0
    for (const held of heaviest.held) {
      if (held !== asking && held.bytes > size && givesWay(held, asking)) [largest, size] = [held, held.bytes]
    }
    return largest
  }

  function grow(held: Held, bytes: number): boolean {
    while (total + bytes > bytesMax || held.owner.bytes + bytes > bytesMax / 2) {
      const evicted = victim(held, bytes)
      if (evicted === held) {
        held.place.release()
        return false
      }
      evict(evicted)
    }
    add(held, bytes)
    return true
  }

  return {
    get bytes() {
      return total
    },
    open(name) {
      let held: Held | undefined
      const hold = (): Held => {
        const owner = owners.get(name) ?? { held: [], bytes: 0 }
        owners.set(name, owner)
        const made = { owner, place, bytes: 0, at: owner.held.length }
        owner.held.push(made)
        return made
      }
      const place: BodyPlace = {
        onEvicted: undefined,
        staysForOwner: false,
        grow: (bytes) => grow((held ??= hold()), bytes),
        release() {
          if (held === undefined) return
          add(held, -held.bytes)
          remove(held.owner.held, held)
          if (held.owner.held.length === 0) owners.delete(name)
          held = undefined
          place.onEvicted = undefined
        },
      }
      return place
    },
  }
}

const longMin = 16_384

export interface Room<Answer> {
  /** A place of the account that asks, without bytes. */
  readonly place: BodyPlace
  readonly response: ServerResponse
  /** So many bytes are to be free before anything is read. */
  readonly bytes: number
  /** In UTF-16 units. */
  readonly lengthOf: (answer: Answer) => number
}

/**
 * What `read` answers; undefined, perhaps with nothing read: its account has no room for it. A long answer holds
 * memory, as its text and in its connection, until the client has read it: it counts among the bodies of its account.
 * Where other accounts need the room, its connection is broken off.
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

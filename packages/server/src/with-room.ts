import type { ServerResponse } from 'node:http'
import type { BodyPlace } from './body-memory.ts'

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
 * What `read` answers; undefined, perhaps with nothing read: its account has no room for it. A long answer holds memory, as its text and in
 * its connection, until the client has read it: it counts among the bodies of its account. Where other accounts need the room, its
 * connection is broken off.
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
  response.once('close', () => place.release())
  return answer
}

async function leaving<Answer>(place: BodyPlace, read: () => Answer | Promise<Answer>): Promise<Answer> {
  try {
    return await read()
  } finally {
    place.release()
  }
}

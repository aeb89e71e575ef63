import type { ServerResponse } from 'node:http'
import type { BodyPlace } from '@gateway/server'
import { LongFields, overloaded, type Answer } from './answer.ts'

const longMin = 16_384

/** A thousand scheduled messages, as text and as the copy in their connection. */
export const pageBytes = 256 * 1024

/**
 * What `read` answers; nothing is read unless the account of the place has room for `bytes`. A long answer holds memory, as its text and in
 * its connection, until the client has read it: it counts among the bodies of its account. Where other accounts need the room, its
 * connection is broken off.
 */
export async function withRoom(
  response: ServerResponse,
  place: BodyPlace,
  bytes: number,
  read: () => Answer | Promise<Answer>,
): Promise<Answer> {
  if (bytes > 0 && !place.grow(bytes)) return overloaded
  const answer = await leaving(place, read)
  const length = typeof answer === 'string' || answer instanceof LongFields ? answer.length : 0
  if (length < longMin || response.destroyed) return answer
  if (!place.grow(2 * length)) return overloaded
  place.onEvicted = () => response.destroy()
  place.staysForOwner = true
  response.once('close', () => place.release())
  return answer
}

async function leaving(place: BodyPlace, read: () => Answer | Promise<Answer>): Promise<Answer> {
  try {
    return await read()
  } finally {
    place.release()
  }
}

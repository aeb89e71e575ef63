import type { ServerResponse } from 'node:http'
import type { BodyPlace } from '@gateway/server'
import { overloaded, type Answer } from './answer.ts'

const longMin = 16_384

/**
 * An answer of what only reads. A long one holds memory, as its text and in its connection, until the client has read it: it counts
 * among the bodies of its account, and is not given where there is no room. Where others need the room, its connection is broken off.
 */
export function untilRead(answer: Answer, response: ServerResponse, place: BodyPlace): Answer {
  if (typeof answer !== 'string' || answer.length < longMin || response.destroyed) return answer
  if (!place.grow(2 * answer.length)) return overloaded
  place.onEvicted = () => response.destroy()
  response.once('close', () => place.release())
  return answer
}

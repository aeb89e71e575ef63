import { messageId, type MessageId } from '@gateway/core'
import { failure, type Failure } from './answer.ts'

const idsMax = 1000

const notIds = failure(
  422,
  `Every message id must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}, written in digits only.`,
)

/**
 * A body that is an array of 1 to 1000 message ids (ruling 2.9). The text, if there is one, is looked at too, since `1e3` and `1.0`
 * are numbers like any other once they are parsed: an array of numbers written in digits only holds no other characters.
 */
export function readIds(body: unknown, text: string | undefined): readonly MessageId[] | Failure {
  if (!Array.isArray(body)) return failure(422, 'The body must be an array of message ids.')
  if (body.length === 0) return failure(422, 'The array of message ids is empty.')
  if (body.length > idsMax) return failure(422, `The array holds more than ${idsMax} message ids.`)
  if (text !== undefined && /[^0-9,[\] \t\r\n]/.test(text)) return notIds
  const ids = body.map((id: unknown) => (typeof id === 'number' ? messageId(id) : undefined))
  const valid = ids.filter((id) => id !== undefined)
  return valid.length === ids.length ? valid : notIds
}

import { messageId, type MessageId } from '@gateway/core/messages'
import { Type } from 'typebox'
import { failure, type Failure } from './answer.ts'
import { describeValue, describeType, short } from './request.ts'
import { MessageIdNumber } from './operation.ts'

const idsMax = 1000

/** Schema of the arrays that `readIds` accepts. A schema cannot express that numbers must be written in digits only. */
export const MessageIds = Type.Array(MessageIdNumber, {
  title: 'MessageIds',
  description: 'Message ids, each written in digits only.',
  minItems: 1,
  maxItems: idsMax,
})

const notIds = (got: string): Failure =>
  failure(
    'invalid-message-id',
    `Every message id must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}, written in digits only; got ${got}.`,
  )

/**
 * Reads a body that is an array of 1 to 1000 message ids (ruling 2.9). Checks the text too, if there is one, because
 * `1e3` and `1.0` look like other numbers once they are parsed.
 */
export function readIds(body: unknown, text: string | undefined): readonly MessageId[] | Failure {
  if (!Array.isArray(body))
    return failure('wrong-body', `The body must be an array of message ids; got ${describeType(body)}.`)
  if (body.length === 0) return failure('no-message-ids', 'The array of message ids is empty.')
  if (body.length > idsMax)
    return failure('too-many-message-ids', `The array must hold at most ${idsMax} message ids; got ${body.length}.`)
  const ids = body.map((id: unknown) => (typeof id === 'number' ? messageId(id) : undefined))
  const wrong = ids.indexOf(undefined)
  const inDigits = text === undefined || !/[^0-9,[\] \t\r\n]/.test(text)
  if (wrong !== -1) {
    const value: unknown = body[wrong]
    // A number that is too large was rounded when it was parsed, so quote it from the text.
    return notIds(
      typeof value === 'number' && inDigits ? short(pieces(text)[wrong] ?? describeValue(value)) : describeValue(value),
    )
  }
  return inDigits ? ids.filter((id) => id !== undefined) : notIds(short(pieces(text).find(isOtherwise) ?? ''))
}

const pieces = (text = ''): readonly string[] => text.split(/[,[\] \t\r\n]+/).filter((piece) => piece !== '')

const isOtherwise = (piece: string): boolean => /[^0-9]/.test(piece)

import { randomInt } from 'node:crypto'
import { ownIdTag, ownIdTags, type OwnId, type Submission } from '@gateway/core/dispatch'
import type { MessageId } from '@gateway/core/messages'

const letters = 'abcdefghijklmnopqrstuvwxyz234567'
const tagLength = 6

/**
 * Returns the id under which a message is known to a provider: the message id and its tag, such as `77-abc234`. The
 * provider recognizes a repetition by this id, so a stored message has the same id in every process. A message that is
 * not stored gets a random tag.
 */
export function ownIdTextOf({ id, due }: Pick<Submission, 'id' | 'due'>): string {
  const tag = due === undefined ? randomInt(ownIdTags) : ownIdTag(due)
  return `${id}-${tagText(tag)}`
}

/** Returns the own id in this text, or undefined if the text is not an own id of any gateway. */
export function ownIdOf(text: string): OwnId | undefined {
  const [, digits, tag = ''] = /^([1-9][0-9]{0,15})-([a-z2-7]{6})$/.exec(text) ?? []
  const message = Number(digits)
  return Number.isSafeInteger(message) ? { message: message as MessageId, tag: tagOfText(tag) } : undefined
}

/** Returns the tag as digits of base 32, the highest first. */
const tagText = (tag: number): string =>
  Array.from({ length: tagLength }, (_, i) => letters[Math.floor(tag / 32 ** (tagLength - 1 - i)) % 32]).join('')

const tagOfText = (text: string): number => Array.from(text).reduce((sum, one) => sum * 32 + letters.indexOf(one), 0)

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

/** Exclusive bound of `ownNumberOf`: such numbers fit into the signed 32 bits that BulkSMS accepts. */
const ownNumbers = 2 ** 31

/**
 * Returns an own id as an integer from 0 to 2^31-1, for providers that recognize a repetition by a number: the message
 * id modulo 2^31. It has no tag, so two gateways that use one account at such a provider can have the same number.
 */
export const ownNumberOf = (text: string): number => Number.parseInt(text, 10) % ownNumbers

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

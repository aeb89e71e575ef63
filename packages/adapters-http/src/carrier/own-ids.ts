import { randomInt } from 'node:crypto'
import type { MessageId } from '@gateway/core/messages'

const letters = 'abcdefghijklmnopqrstuvwxyz234567'
const tagLength = 6

/** Makes the ids under which messages are known to a provider. */
export interface OwnIds {
  of(message: MessageId): string
}

/**
 * Creates the ids of one carrier. An id consists of the message id and a tag that is random for each start. Providers
 * recognize a repetition by this id. The tag distinguishes two gateways that use the same account at a provider,
 * because both count their messages from 1.
 */
export function ownIds(): OwnIds {
  const tag = Array.from({ length: tagLength }, () => letters[randomInt(letters.length)]).join('')
  return { of: (message) => `${message}-${tag}` }
}

/** Returns the id of the message that a provider returned as ours; undefined for any other text. */
export function messageOfOwnId(ownId: string): MessageId | undefined {
  const [, digits] = /^([1-9][0-9]{0,15})-[a-z2-7]{6}$/.exec(ownId) ?? []
  const id = Number(digits)
  return Number.isSafeInteger(id) ? (id as MessageId) : undefined
}

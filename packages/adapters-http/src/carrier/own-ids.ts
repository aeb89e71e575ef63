import { randomInt } from 'node:crypto'
import type { MessageId } from '@gateway/core/messages'

const letters = 'abcdefghijklmnopqrstuvwxyz234567'
const tagLength = 6

/** Makes the ids under which messages are known to a provider. */
export interface OwnIds {
  of(message: MessageId): string
}

/**
 * Creates the ids of one carrier: the id of the message and a tag that is random for each start. Providers recognize a
 * repetition by this id, and two gateways with one account at a provider count their messages from 1.
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

import { bodyOf, type Body } from '../message/body.ts'
import type { Ports } from '../ports.ts'
import type { InboundMessage } from './inbound-message.ts'
import type { Received } from './inbox.ts'

/** The confirmation of an opt-out unless the operator sets another. */
export const defaultConfirmation = 'You will get no more messages from this sender. Reply START to get them again.'

/** Throws a RangeError for a text that cannot be sent. */
export function confirmationOf(text: string): Body {
  const body = bodyOf(text)
  if (typeof body === 'string') throw new RangeError(`a confirmation that cannot be sent: ${body}`)
  return body
}

/** Stores what a carrier brings, with all that follows (rulings 1.18 to 1.22). The carrier may be told so once this has resolved (P-7). */
export const receive =
  (ports: Pick<Ports, 'inbox'>, confirmation: Body) =>
  (messages: readonly InboundMessage[]): Promise<readonly Received[]> =>
    ports.inbox.receive(messages, confirmation)

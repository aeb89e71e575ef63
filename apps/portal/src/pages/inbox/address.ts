import type { ConversationPlace, InboundMessageId } from '@gateway/core/inbox'
import type { MessageId } from '@gateway/core/messages'

/** An id as an address has it, of the last line of the page before; undefined: it has none. */
export const readKey = (given: string | null): InboundMessageId | undefined =>
  given !== null && /^[1-9][0-9]{0,14}$/.test(given) ? (Number(given) as InboundMessageId) : undefined

export const readPlace = (query: URLSearchParams): ConversationPlace => ({
  received: readKey(query.get('received')),
  sent: readKey(query.get('sent')) as MessageId | undefined,
})

/** Whoever wrote may be called otherwise than a number. */
export const conversationPath = (from: string, { received, sent }: ConversationPlace = {}): string => {
  const keys = Object.entries({ received, sent }).filter(([, id]) => id !== undefined)
  const query = new URLSearchParams(keys.map(([name, id]) => [name, String(id)])).toString()
  return `/inbox/${encodeURIComponent(from)}${query === '' ? '' : `?${query}`}`
}

import type { ConversationPlace, InboundMessageId } from '@gateway/core/inbox'
import type { MessageId } from '@gateway/core/messages'

/** Reads an id from the query: the last line of the previous page. Returns undefined if there is none. */
export const readKey = (text: string | null): InboundMessageId | undefined =>
  text !== null && /^[1-9][0-9]{0,14}$/.test(text) ? (Number(text) as InboundMessageId) : undefined

export const readPlace = (query: URLSearchParams): ConversationPlace => ({
  received: readKey(query.get('received')),
  sent: readKey(query.get('sent')) as MessageId | undefined,
})

/** Returns the path of a conversation. The sender may also be a name instead of a number. */
export const conversationPath = (from: string, { received, sent }: ConversationPlace = {}): string => {
  const keys = Object.entries({ received, sent }).filter(([, id]) => id !== undefined)
  const query = new URLSearchParams(keys.map(([name, id]) => [name, String(id)])).toString()
  return `/inbox/${encodeURIComponent(from)}${query === '' ? '' : `?${query}`}`
}

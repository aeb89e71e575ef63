import type { Ports } from '../ports.ts'
import type { UnownedMessage } from './inbox.ts'

export const inboxQueries = (ports: Ports) => ({
  listUnownedMessages: (): AsyncIterable<UnownedMessage> => ports.inbox.unowned(),
})

import type { InboxPorts } from '../ports.ts'
import type { UnownedMessage } from './inbox.ts'

export const inboxQueries = (ports: InboxPorts) => ({
  listUnownedMessages: (): AsyncIterable<UnownedMessage> => ports.inbox.unowned(),
})

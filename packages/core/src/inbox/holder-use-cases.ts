import type { Account } from '../accounts/account.ts'
import { holderCommand } from '../command.ts'
import type { HolderPorts } from '../ports.ts'
import { countUnread, listConversations, showConversation } from './show-conversations.ts'
import { listReplies, listShortCodeMessages, takeReplies, takeShortCodeMessages } from './take-inbox.ts'

export const inboxQueries = (ports: HolderPorts) => ({
  listReplies: listReplies(ports),
  listShortCodeMessages: listShortCodeMessages(ports),
  listConversations: listConversations(ports),
  showConversation: showConversation(ports),
  countUnread: countUnread(ports),
})

// The audit log does not record these commands, because programs call them all the time and every message stays
// readable.
export const inboxCommands = {
  takeReplies: holderCommand({
    role: 'sender',
    run: (ports, { returnOnceMax }) => takeReplies(ports, returnOnceMax),
    audit: false,
  }),
  takeShortCodeMessages: holderCommand({
    role: 'sender',
    run: (ports, { returnOnceMax }) => takeShortCodeMessages(ports, returnOnceMax),
    audit: false,
  }),
  markRead: holderCommand({
    role: 'sender',
    run: (ports) => (account: Account, from: string, arrived: number) =>
      ports.inbox.markRead(account.id, from, arrived),
    audit: false,
  }),
}

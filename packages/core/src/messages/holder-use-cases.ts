import type { Account } from '../accounts/account.ts'
import { holderCommand } from '../command.ts'
import type { HolderPorts } from '../ports.ts'
import type { GatewayDay } from '../time/gateway-time.ts'
import { changeScheduled } from './change-scheduled.ts'
import { deleteScheduled, findMessages, queryStatus, type MessageQuery } from './follow-messages.ts'
import type { MessageId } from './message-id.ts'
import type { Page } from './messages.ts'
import { listOwnSenders } from './own-senders.ts'
import { quoteMessages } from './quote-messages.ts'
import { sendMessages } from './send-messages.ts'
import { lastSend, listSent, showSent } from './show-sent.ts'

export const messageQueries = (ports: HolderPorts) => ({
  quoteMessages: quoteMessages(ports),
  listOwnSenders: listOwnSenders(ports),
  queryStatus: queryStatus(ports),
  listScheduled: ({ id }: Account, page: Page) => ports.messages.scheduled(id, page),
  listSent: listSent(ports),
  showSent: showSent(ports),
  findSent: (account: Account, id: MessageId) => ports.sentMessages.find(account.id, id),
  searchSent: (account: Account, query: Omit<MessageQuery, 'account'>) =>
    findMessages(ports)({ ...query, account: account.id } as MessageQuery),
  lastSend: lastSend(ports),
  listDailySums: ({ id }: Account, from: GatewayDay) => ports.dailySums.ofAccount(id, from),
})

export const messageCommands = {
  // The audit log does not record a send, because the messages and the ledger show it.
  sendMessages: holderCommand({
    role: 'sender',
    run: (ports, { senders, activity }) => sendMessages(ports, senders, activity),
    audit: false,
  }),
  deleteScheduled: holderCommand({
    role: 'sender',
    run: deleteScheduled,
    audit: (_account, ids) => ({
      given: { messages: ids.length, first: ids[0] },
      outcome: (deletions) => ({ deleted: deletions.filter(({ outcome }) => outcome === 'deleted').length }),
    }),
  }),
  changeScheduled: holderCommand({
    role: 'sender',
    run: (ports, { senders, activity }) => changeScheduled(ports, sendMessages(ports, senders, activity)),
    audit: (_account, message, { due }) => ({ given: { message, due }, outcome: ({ outcome }) => outcome }),
  }),
}

import type { InboundMessageId, InboxMessage, Instant, MessageId, SenderAddress } from '@gateway/core'
import type { InboxRow } from '../sql/inbox.ts'

export const inboxMessage = ({ id, from, at, text, answers, code }: InboxRow): InboxMessage => ({
  id: id as InboundMessageId,
  from,
  at: at as Instant,
  text,
  answers: (answers ?? undefined) as MessageId | undefined,
  shortCode: (code ?? undefined) as SenderAddress | undefined,
})

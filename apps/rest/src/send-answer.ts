import { formatCredits, formatMinute, type SentRecipient } from '@gateway/core'
import type { RequestedText } from './send-request.ts'
import { ACCEPT_ERROR } from './words.ts'

/** `"recipients":[…]` of one text, in request order (ruling 2.5). */
export function recipientsField({ clientMessageIds }: RequestedText, sent: readonly SentRecipient[]): string {
  const json: string[] = []
  for (const [i, recipient] of sent.entries()) json.push(recipientJson(recipient, clientMessageIds[i] ?? null))
  return `"recipients":[${json.join()}]`
}

function recipientJson(recipient: SentRecipient, clientMessageId: string | null): string {
  const own = clientMessageId === null ? 'null' : JSON.stringify(clientMessageId)
  const balance = formatCredits(recipient.balance)
  if ('refused' in recipient) {
    const word = ACCEPT_ERROR[recipient.refused]
    return `{"clientMessageId":${own},"mobileNumber":${JSON.stringify(recipient.number)},"accepted":false,"acceptError":"${word}","apiMessageId":null,"scheduledTime":null,"creditCost":0.0,"newCreditBalance":${balance}}`
  }
  const { id, due, cost } = recipient
  const scheduled = due === undefined ? 'null' : `"${formatMinute(due)}"`
  // What was accepted is digits.
  return `{"clientMessageId":${own},"mobileNumber":"${recipient.number}","accepted":true,"acceptError":"","apiMessageId":${id},"scheduledTime":${scheduled},"creditCost":${formatCredits(cost)},"newCreditBalance":${balance}}`
}

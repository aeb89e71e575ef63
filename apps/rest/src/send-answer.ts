import { formatCredits, formatMinute, type SentRecipient } from '@gateway/core'
import type { RequestedText } from './send-request.ts'
import { ACCEPT_ERROR } from './words.ts'

/** `"recipients":[…]` of one text, in request order (ruling 2.5). */
export const recipientsField = ({ clientMessageIds }: RequestedText, sent: readonly SentRecipient[]): string =>
  `"recipients":[${sent.map((recipient, i) => recipientJson(recipient, clientMessageIds[i] ?? null)).join()}]`

function recipientJson(recipient: SentRecipient, clientMessageId: string | null): string {
  const head = `{"clientMessageId":${JSON.stringify(clientMessageId)},"mobileNumber":${JSON.stringify(recipient.number)}`
  const balance = formatCredits(recipient.balance)
  if ('refused' in recipient) {
    const word = ACCEPT_ERROR[recipient.refused]
    return `${head},"accepted":false,"acceptError":"${word}","apiMessageId":null,"scheduledTime":null,"creditCost":0.0,"newCreditBalance":${balance}}`
  }
  const { id, due, cost } = recipient
  const scheduled = due === undefined ? 'null' : `"${formatMinute(due)}"`
  return `${head},"accepted":true,"acceptError":"","apiMessageId":${id},"scheduledTime":${scheduled},"creditCost":${formatCredits(cost)},"newCreditBalance":${balance}}`
}

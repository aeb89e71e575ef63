import { formatCredits, formatMinute, type SentRecipient } from '@gateway/core'
import { RECIPIENT_ERROR } from '@gateway/wire'
import { Type } from 'typebox'
import { answerObject, CreditsNumber, MessageIdNumber, Minute, oneOf, orNull } from './operation.ts'
import type { RequestedRecipient } from './send-request.ts'

// A blank text is refused with the whole call.
const { 'no-message': _blank, ...told } = RECIPIENT_ERROR

/** One element of `recipientsField`. */
export const SentRecipientAnswer = answerObject('SentRecipient', {
  clientMessageId: orNull(Type.String(), 'As in the request; null if it had none.'),
  mobileNumber: Type.String({ description: 'As in the request, without white space around it.' }),
  accepted: Type.Boolean({ description: 'Whether the message will be sent.' }),
  acceptError: oneOf(['', ...Object.values(told)], 'Why it was refused; blank if it was not.'),
  apiMessageId: orNull(MessageIdNumber, 'The id to ask for its status by; null if it was refused.'),
  scheduledTime: orNull(Minute, 'When it will be sent; null if at once.'),
  creditCost: CreditsNumber,
  newCreditBalance: CreditsNumber,
})

/** `"recipients":[…]` of one text, in request order (ruling 2.5). */
export const recipientsField = (sent: readonly SentRecipient<RequestedRecipient>[]): string =>
  `"recipients":[${sent.map(recipientJson).join()}]`

function recipientJson(recipient: SentRecipient<RequestedRecipient>): string {
  const { clientMessageId } = recipient.recipient
  const own = clientMessageId === null ? 'null' : JSON.stringify(clientMessageId)
  const balance = formatCredits(recipient.balance)
  if ('refused' in recipient) {
    const word = RECIPIENT_ERROR[recipient.refused]
    return `{"clientMessageId":${own},"mobileNumber":${JSON.stringify(recipient.number)},"accepted":false,"acceptError":"${word}","apiMessageId":null,"scheduledTime":null,"creditCost":0.0,"newCreditBalance":${balance}}`
  }
  const { id, due, cost } = recipient
  const scheduled = due === undefined ? 'null' : `"${formatMinute(due)}"`
  // What was accepted is digits.
  return `{"clientMessageId":${own},"mobileNumber":"${recipient.number}","accepted":true,"acceptError":"","apiMessageId":${id},"scheduledTime":${scheduled},"creditCost":${formatCredits(cost)},"newCreditBalance":${balance}}`
}

import type { SentRecipient } from '@gateway/core'
import { post } from '../../../endpoint.ts'
import { recipientsField } from '../../../recipients-field.ts'
import { readSendMulti, type RequestedRecipient } from '../../../send-request.ts'
import { sendTexts } from '../../../send-texts.ts'

/** Several texts, each to its own numbers, in one call (ruling 2.6). */
export const sendMulti = post(readSendMulti, (call, texts) =>
  sendTexts(call, texts, (sent) => `"messages":[${sent.map(messageJson).join()}]`),
)

function messageJson(sent: readonly SentRecipient<RequestedRecipient>[]): string {
  const [first] = sent
  if (first === undefined) throw new Error('a text without recipients was let through')
  return `{"message":${JSON.stringify(first.recipient.text)},${recipientsField(sent)}}`
}

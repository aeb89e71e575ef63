import { post } from '../../../endpoint.ts'
import { recipientsField } from '../../../recipients-field.ts'
import { readSendMulti } from '../../../send-request.ts'
import { sendTexts } from '../../../send-texts.ts'

/** Several texts, each to its own numbers, in one call (ruling 2.6). */
export const sendMulti = post(readSendMulti, (call, texts) =>
  sendTexts(call, texts, (sent) => {
    const messages = texts.map(
      (text, i) => `{"message":${JSON.stringify(text.text)},${recipientsField(sent[i] ?? [])}}`,
    )
    return `"messages":[${messages.join()}]`
  }),
)

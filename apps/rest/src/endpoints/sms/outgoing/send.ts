import { post } from '../../../endpoint.ts'
import { recipientsField } from '../../../recipients-field.ts'
import { readSend } from '../../../send-request.ts'
import { sendTexts } from '../../../send-texts.ts'

/** smsOutgoingSend: one text to 1 to 1000 numbers (spec 4.1; rulings 2.4, 2.5). */
export const send = post(readSend, (call, text) => sendTexts(call, [text], ([sent]) => recipientsField(sent ?? [])))

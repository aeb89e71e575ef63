import { readIdempotencyKey } from '@gateway/core/client-requests'
import { bodyOf, type MessageId, type TextToSend } from '@gateway/core/messages'
import type { HolderVisit } from './page.ts'
import { REFUSAL } from './words.ts'

/**
 * Sends a text to one number, once for each key of a form. Returns the id of the message, or the reason why nothing was
 * sent.
 */
export async function sendOne(
  { gateway, account }: HolderVisit,
  number: string,
  text: Omit<TextToSend, 'recipients'>,
  formKey: string,
): Promise<MessageId | { readonly problem: string }> {
  const body = bodyOf(text.text)
  if (body === 'no-message') return { problem: 'Enter a text.' }
  if (body === 'too-long') return { problem: 'The text is too long: up to 918 characters can be sent.' }
  const key = readIdempotencyKey(formKey)
  if (key === undefined || key === 'unusable')
    return { problem: 'The form is incomplete. Nothing was sent. Try again.' }
  const sent = await gateway.commands.sendMessages(account, [{ ...text, recipients: [number] }], key)
  if (sent === 'invalid-sender')
    return { problem: 'Your account has no sender that may be used for this number. Ask the operator.' }
  if (sent === 'another-request') return { problem: 'This form was already used for another text.' }
  if (sent === 'overloaded') return { problem: 'The gateway is too busy. Nothing was sent. Try again.' }
  if ('overLimitSeconds' in sent) {
    const seconds = Math.ceil(sent.overLimitSeconds)
    return { problem: `Your account may send again in ${seconds} seconds. Nothing was sent.` }
  }
  const [result] = sent.flat()
  if (result === undefined) throw new Error('a send to one number has no result')
  return 'refused' in result ? { problem: `Nothing was sent: ${REFUSAL[result.refused]}.` } : result.id
}

import type { SendResults } from '@gateway/core'
import { notAvailable, overLimit, overloaded, type Answer } from './answer.ts'
import type { Call } from './endpoint.ts'
import type { RequestedRecipient, RequestedText } from './send-request.ts'

/** Sends, and answers with what `fields` makes of the results. */
export async function sendTexts(
  { gateway, account, idempotencyKey }: Call,
  texts: readonly RequestedText[],
  fields: (results: SendResults<RequestedRecipient>) => string,
): Promise<Answer> {
  // Who sends such a key relies on it when sending again: better no message than the same one twice.
  if (idempotencyKey !== undefined) return notAvailable('Idempotency-Key')
  const results = await gateway.sendMessages(account, texts)
  if (results === 'overloaded') return overloaded
  return 'overLimitSeconds' in results ? overLimit(results) : fields(results)
}

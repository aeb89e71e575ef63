import type { SendResults } from '@gateway/core'
import { overLimit, overloaded, type Answer, LongFields } from './answer.ts'
import type { Call } from './endpoint.ts'
import { anotherRequest, readKey } from './idempotency-key.ts'
import type { RequestedRecipient, RequestedText } from './send-request.ts'

/** Sends, and answers with what `fields` makes of the results. */
export async function sendTexts(
  { gateway, account, idempotencyKey }: Call,
  texts: readonly RequestedText[],
  fields: (results: SendResults<RequestedRecipient>) => string,
): Promise<Answer> {
  const key = readKey(idempotencyKey)
  if (typeof key === 'object') return key
  const results = await gateway.sendMessages(account, texts, key)
  if (results === 'overloaded') return overloaded
  if (results === 'another-request') return anotherRequest
  return 'overLimitSeconds' in results ? overLimit(results) : new LongFields(fields(results))
}

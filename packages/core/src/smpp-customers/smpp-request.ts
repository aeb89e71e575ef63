import { readIdempotencyKey, type ClientRequest } from '../client-requests/client-requests.ts'
import type { Ports } from '../ports.ts'
import type { SmppSession } from './smpp-credentials.ts'

/**
 * Seconds for which a repeated user_message_reference gets the first answer: 24 hours. The reference has 16 bits, so
 * that clients use it again sooner than an idempotency key of ruling 1.24.
 */
const repetitionSeconds = 24 * 3600

/**
 * Returns the request by which repetitions of a submission are recognized, or undefined if the credential is not
 * idempotent or the submission has no user_message_reference. `content` is the rest of the identity: the recipients,
 * and the text, because a client that counts from 1 again must not lose another text.
 */
export function smppRequest(
  { secrets }: Pick<Ports, 'secrets'>,
  { account, credential }: SmppSession,
  reference: number | undefined,
  content: readonly unknown[],
): ClientRequest | undefined {
  if (!credential.isIdempotent || reference === undefined) return undefined
  const canonical = JSON.stringify([credential.id, reference, ...content])
  const key = readIdempotencyKey(`smpp ${secrets.hashKey(canonical)}`)
  if (key === undefined || key === 'unusable') throw new Error('the digest of a submission is not printable')
  return { account: account.id, key, canonical, keptSeconds: repetitionSeconds }
}

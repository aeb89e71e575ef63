import { RequestWindow, type RequestResult } from '@gateway/carrier-kit'
import type { CarrierId, Submission } from '@gateway/core/dispatch'
import type { ObservedTraffic } from '@gateway/core/fleet'
import type { MessageId } from '@gateway/core/messages'
import { accountOf, callbacksOf, originOfAccount, type HttpSettings } from '../settings.ts'
import { createTransport } from '../transport/exchange.ts'
import { HttpTransport } from './http-transport.ts'
import { HttpTraffic } from './traffic.ts'

/** Result of one message that was sent for a test. */
export interface TriedMessage {
  /** Meaning of the answer. */
  readonly outcome: RequestResult['is']
  /** The provider's code or text, or what happened to the connection; undefined if there is neither. */
  readonly reason: string | undefined
  /** The provider's id of the message, if it was accepted. */
  readonly reference: string | undefined
}

/**
 * Id of test messages. No stored message has this id, so a receipt for a test is never assigned to a stored message.
 */
const testId = 0 as MessageId

/**
 * Sends one message over a connection of its own. `saw` is called with the request and the answer, without secrets. The
 * request is never repeated. This function does not throw, whatever the provider does.
 */
export async function tryMessage(
  id: CarrierId,
  settings: HttpSettings,
  message: Omit<Submission, 'id'>,
  saw: (traffic: ObservedTraffic) => void,
): Promise<TriedMessage> {
  const account = accountOf(settings)
  const traffic = new HttpTraffic(account)
  traffic.observe([{ number: undefined, hasText: true, saw }])
  const window = new RequestWindow({ ...settings, slowSeconds: undefined })
  const connections = createTransport({ ...settings, origin: originOfAccount(account), connections: 1 })
  let reason: string | undefined
  const transport = new HttpTransport({
    ...{ account, connections, window, traffic, clock: Date },
    callbacks: callbacksOf(account, id, settings.publicUrl),
    answered: () => undefined,
    note: (text) => void (reason = text),
  })
  const submission = { ...message, id: testId }
  const [segment] = transport.partsOf(submission)
  if (segment === undefined) throw new Error('the message has no parts')
  const part = { message: submission, segment, validSeconds: message.validSeconds }
  const result = await new Promise<RequestResult>((resolve) => void transport.send(window, part, resolve))
  await connections.close()
  if (result.is === 'accepted') return { outcome: result.is, reason: undefined, reference: result.reference }
  return { outcome: result.is, reason: 'reason' in result ? result.reason : reason, reference: undefined }
}

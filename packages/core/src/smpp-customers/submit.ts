import type { OverLimit } from '../accounts/account-rates.ts'
import type { AnswerDeadline } from '../messages/answer-deadline.ts'
import type { TextToSend } from '../messages/screen-texts.ts'
import type { sendMessages } from '../messages/send-messages.ts'
import type { SendOptions } from '../messages/send-options.ts'
import type { SendResults } from '../messages/send-results.ts'
import type { Ports } from '../ports.ts'
import type { SmppSession } from './smpp-credentials.ts'
import type { SmppOptions } from './smpp-options.ts'
import { smppRequest } from './smpp-request.ts'

/** Submission of one complete text to one or more recipients. */
export interface SmppSubmission extends Pick<
  TextToSend<string>,
  'text' | 'body' | 'recipients' | 'scheduled' | 'sender'
> {
  readonly options: SendOptions & { readonly smpp: SmppOptions }
  /** user_message_reference (SMPP 3.4, 5.3.2.17). */
  readonly reference?: number | undefined
}

export type SubmissionResult = SendResults<string> | 'overloaded' | 'invalid-sender' | OverLimit

/**
 * Sends a text that a customer submitted over SMPP. The ids of several recipients are consecutive (ruling 5.3). If the
 * credential is idempotent, a repetition of the same user_message_reference, recipients and text within 24 hours has
 * the first result. 'overloaded', OverLimit and 'invalid-sender' mean that nothing was or will be charged or sent.
 */
export const submitOverSmpp =
  (ports: Pick<Ports, 'secrets'>, send: ReturnType<typeof sendMessages>) =>
  async (
    { account, credential }: SmppSession,
    { options, reference, ...text }: SmppSubmission,
    deadline?: AnswerDeadline,
  ): Promise<SubmissionResult> => {
    const isConsecutive = text.recipients.length > 1
    const request = smppRequest(ports, { account, credential }, reference, [text.text, ...text.recipients])
    const sent = await send(account, [{ ...text, options }], request?.key, { ...request, deadline, isConsecutive })
    // The key is a digest of the whole identity, so that it never belongs to another request.
    if (sent === 'another-request') throw new Error('two different submissions have the same digest')
    return sent
  }

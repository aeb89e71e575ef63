import type { InboundMessage } from '../inbox/inbound-message.ts'
import type { MessageId } from '../message/message-id.ts'
import type { InFlight } from './in-flight.ts'
import type { OutcomeWriter } from './outcome-writer.ts'

/**
 * Whether one of these inbound messages may answer a message of which it is not recorded yet that it was sent. Only what was submitted
 * before they came counts: to a number that is written to all the time there is always something that is not recorded.
 */
export const holdUntilRecorded =
  ({ unanswered }: Pick<InFlight, 'unanswered'>, outcomes: Pick<OutcomeWriter, 'has' | 'messagesTo'>) =>
  (inbound: readonly InboundMessage[]): (() => boolean) => {
    const numbers = new Set<string>(inbound.map(({ from }) => from.replace(/^\+/, '')))
    const before = [...outcomes.messagesTo(numbers)]
    for (const [id, { message }] of unanswered) if (numbers.has(message.to)) before.push(id)
    const isOpen = (id: MessageId): boolean => unanswered.has(id) || outcomes.has(id)
    return () => {
      for (let id = before.at(-1); id !== undefined; id = before.at(-1)) {
        if (isOpen(id)) return true
        before.pop() // it is recorded, or the carrier did not take it
      }
      return false
    }
  }

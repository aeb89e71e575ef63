import type { InboundMessage } from '../inbox/inbound-message.ts'
import type { MessageId } from '../message/message-id.ts'
import type { Sky } from './aloft.ts'
import type { Recorder } from './recorder.ts'

/**
 * Whether one of these arrivals may answer a message of which it is not on record yet that it was sent. Only what was submitted before they
 * came counts: to a number that is written to all the time there is always something that is not on record.
 */
export const overtaking =
  (sky: Pick<Sky, 'unanswered'>, recorder: Pick<Recorder, 'isRecording' | 'recordingTo'>) =>
  (arrivals: readonly InboundMessage[]): (() => boolean) => {
    const numbers = new Set<string>(arrivals.map(({ from }) => from.replace(/^\+/, '')))
    const before = [...recorder.recordingTo(numbers)]
    for (const [id, { message }] of sky.unanswered) if (numbers.has(message.to)) before.push(id)
    const isOpen = (id: MessageId): boolean => sky.unanswered.has(id) || recorder.isRecording(id)
    return () => {
      for (let id = before.at(-1); id !== undefined; id = before.at(-1)) {
        if (isOpen(id)) return true
        before.pop() // it is on record, or the carrier did not take it
      }
      return false
    }
  }

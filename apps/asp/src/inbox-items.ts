import { formatMinute, type InboxMessage, type Instant, type MessageId, type TakenMessages } from '@gateway/core'
import { inSlices } from '@gateway/server'
import { echoed, listAnswer, type Answer } from './answer.ts'

/** What a return-once call returns (ruling 1.20). */
export async function takenAnswer(taken: TakenMessages, item: (message: InboxMessage) => string): Promise<Answer> {
  if (taken.messages.length === 0) return ''
  return { text: listAnswer(await inSlices(taken.messages, item)), offerAgain: () => taken.offerAgain() }
}

export const replyForm = 'CLI=<number>;DateReceived=<minute>;Message=<text>;SentMessageID=<message id or nothing>&'

/** The pairs of a reply and of an opt-out (spec 4.2, rule 4). Without a message that it answers the last value is empty (ruling 1.18). */
export const replyItem = (from: string, at: Instant, text: string, answers: MessageId | undefined): string =>
  `CLI=${echoed(from)};DateReceived=${formatMinute(at)};Message=${echoed(text)};SentMessageID=${answers ?? ''}`

/** The pairs of a short code message (spec 4.2, rule 4). */
export const shortCodeItem = ({ shortCode, from, at, text }: InboxMessage): string =>
  `SC=${shortCode ?? ''};CLI=${echoed(from)};DateReceived=${formatMinute(at)};Message=${echoed(text)}`

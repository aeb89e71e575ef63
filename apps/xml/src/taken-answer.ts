import type { InboxMessage, TakenMessages } from '@gateway/core'
import type { Answer } from './answer.ts'

/** The answer to a return-once call (ruling 1.20); an empty root if there is nothing (ruling 4.10). */
export const takenAnswer = (taken: TakenMessages, write: (message: InboxMessage) => string): Answer => {
  const content = taken.messages.map(write).join('')
  return content === '' ? { content } : { content, offerAgain: () => taken.offerAgain() }
}

import type { MessageId } from './message-id.ts'
import type { MessageStory } from './message-story.ts'

/** What happened to messages. */
export interface Stories {
  /** All of it as of one moment. Undefined: no message has this id, or its history was dropped. */
  of(id: MessageId): Promise<MessageStory | undefined>
}

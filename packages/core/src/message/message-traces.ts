import type { Instant } from '../time/instant.ts'
import type { FoundMessage, MessageSearch } from './found-message.ts'
import type { MessageId } from './message-id.ts'
import type { MessageTrace } from './message-trace.ts'

/** What happened to messages. */
export interface MessageTraces {
  /** All of it as of one moment. Undefined: no message has this id, or its history was dropped. */
  of(id: MessageId): Promise<MessageTrace | undefined>
  /**
   * The first `limit` of the messages that are looked for, the latest due first, then the highest id; all as of one moment.
   * What is decided and was due before `decidedSince` is not among them.
   */
  find(search: MessageSearch, decidedSince: Instant, limit: number): Promise<readonly FoundMessage[]>
}

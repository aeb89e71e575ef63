import { type MessageId, parseMessageId } from '@gateway/core/messages'
import { type Element, elements, trimmed } from './reading/read-document.ts'

/** One `MessageID` element of a status or delete request. */
export interface RequestedMessage {
  /** Id as submitted, trimmed. */
  readonly id: string
  /** Client's own text, trimmed, which is returned with the result. `''` if there is none. */
  readonly cli: string
}

export interface MessageIdsDraft {
  readonly messages: { id?: string; cli?: string }[]
}

export const messageIdsDraft = (): MessageIdsDraft => ({ messages: [] })

export const messageIdElements: Readonly<Record<string, Element<MessageIdsDraft>>> = {
  MessageIDs: {
    inside: elements<MessageIdsDraft>({
      MessageID: {
        open: ({ messages }) => messages.push({}),
        inside: elements<MessageIdsDraft>({
          ID: trimmed(({ messages }, text) => ((messages.at(-1) ?? {}).id ??= text)),
          CLI: trimmed(({ messages }, text) => ((messages.at(-1) ?? {}).cli ??= text)),
        }),
      },
    }),
  },
}

/**
 * Checks that there is at least one message and that every `ID` consists of digits, even if no message can have that id
 * (ruling 4.10).
 */
export function checkMessageIds({ messages }: MessageIdsDraft): readonly RequestedMessage[] | 'not-valid' {
  const requested = messages.map(({ id = '', cli = '' }) => ({ id, cli }))
  return requested.length > 0 && requested.every(({ id }) => /^[0-9]+$/.test(id)) ? requested : 'not-valid'
}

/** Returns the message id, or undefined if no message can have this id. */
export const idOf = ({ id }: RequestedMessage): MessageId | undefined => parseMessageId(id)

import { type MessageId, parseMessageId } from '@gateway/core/messages'
import { type Element, elements, trimmed } from './reading/read-document.ts'

/** One `MessageID` element of a status or delete request. */
export interface AskedMessage {
  /** As submitted, trimmed. */
  readonly id: string
  /** The caller's own text, returned with the result, trimmed; `''` if none. */
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

/** At least one message, and every `ID` consists of digits, even if no message can have it (ruling 4.10). */
export function checkMessageIds({ messages }: MessageIdsDraft): readonly AskedMessage[] | 'not-valid' {
  const asked = messages.map(({ id = '', cli = '' }) => ({ id, cli }))
  return asked.length > 0 && asked.every(({ id }) => /^[0-9]+$/.test(id)) ? asked : 'not-valid'
}

/** Undefined if no message can have this id. */
export const idOf = ({ id }: AskedMessage): MessageId | undefined => parseMessageId(id)

import { parseMessageId, type MessageId } from '@gateway/core'
import { elements, trimmed, type Element } from './reading/element.ts'

/** One `MessageID` element: what a status or a delete request asks about. */
export interface AskedMessage {
  /** As submitted, trimmed. */
  readonly id: string
  /** Whatever the caller wants to see again beside the answer, trimmed; `''` if nothing. */
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

/** At least one, and every `ID` a number: digits, whether a message can have that id or not (ruling 4.10). */
export function checkMessageIds({ messages }: MessageIdsDraft): readonly AskedMessage[] | 'not-valid' {
  const asked = messages.map(({ id = '', cli = '' }) => ({ id, cli }))
  return asked.length > 0 && asked.every(({ id }) => /^[0-9]+$/.test(id)) ? asked : 'not-valid'
}

/** Undefined: no message can have it. */
export const idOf = ({ id }: AskedMessage): MessageId | undefined => parseMessageId(id)

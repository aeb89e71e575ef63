import { withLabels } from '@gateway/core/messages'
import { messageEventId, type EventGroup, type MessageEvents, type WebhookEvent } from '@gateway/core/webhooks'

/** Returns the single events of these groups, in order. */
export const eventsOf = ({ groups }: { readonly groups: readonly EventGroup[] }): readonly WebhookEvent[] =>
  groups.flatMap((group) => ('messages' in group ? eventsOfMessages(group) : [group]))

const eventsOfMessages = (events: MessageEvents): readonly WebhookEvent[] => {
  const { sequence, occurred, shared, messages, numbers, references } = events
  return messages.flatMap((message, i) => {
    const number = numbers[i]
    const reference = references?.[i]
    const id = messageEventId(message, sequence)
    return number === undefined
      ? []
      : [{ id, sequence, occurred, data: withLabels({ ...shared, message, number }, { reference }) }]
  })
}

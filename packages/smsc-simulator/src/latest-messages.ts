import type { EndedMessage, StoredMessage } from './stored-message.ts'

/** The messages of this run, up to a number of them, found by their numbers. */
export interface LatestMessages {
  /** The numbers of those that are added grow. */
  add(message: StoredMessage): void
  find(number: number): StoredMessage | EndedMessage | undefined
  /** Forgets what nobody asks for any more. */
  end(message: StoredMessage): void
}

/**
 * One object stands for all that ended alike: the collection of garbage would have to move one for each message, several times. A message takes
 * 7.2 to 8.4 µs of `gateway-smsc` instead of 9.2.
 */
export function latestMessages(messagesMax: number): LatestMessages {
  const messages: (StoredMessage | EndedMessage)[] = []
  const numbers: number[] = []
  const ended = new Map<string, EndedMessage>()
  let lastEnd: EndedMessage | undefined
  let first: number | undefined

  const placeOf = (number: number): number => (number - (first ?? number)) % messagesMax

  function endOf({ systemId, state }: StoredMessage): EndedMessage {
    if (lastEnd?.state === state && lastEnd?.systemId === systemId) return lastEnd
    const key = `${state ?? ''} ${systemId}`
    lastEnd = ended.get(key) ?? { systemId, state, hasEnded: true }
    ended.set(key, lastEnd)
    return lastEnd
  }

  return {
    add(message) {
      first ??= message.number
      const place = placeOf(message.number)
      messages[place] = message
      numbers[place] = message.number
    },
    find(number) {
      const place = placeOf(number)
      return numbers[place] === number ? messages[place] : undefined
    },
    end(message) {
      const place = placeOf(message.number)
      if (numbers[place] === message.number) messages[place] = endOf(message)
    },
  }
}

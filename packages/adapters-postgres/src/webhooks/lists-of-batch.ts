import type { StoredEvents } from './stored-event.ts'

/** A batch has at most so many lists; the n-th of batch b, from 0, has the id `listsPerBatch * b + n`. */
export const listsPerBatch = 10_000

/** The lists of `size` events each that a batch has, in their order; the last one may be shorter. */
export function listsOfBatch(events: readonly StoredEvents[], size: number): readonly (readonly StoredEvents[])[] {
  const lists: StoredEvents[][] = []
  let room = 0
  for (const stored of events) {
    const count = subjectsOf(stored).length
    for (let from = 0; from < count;) {
      if (room === 0) {
        lists.push([])
        room = size
      }
      const to = Math.min(count, from + room)
      lists.at(-1)?.push(from === 0 && to === count ? stored : piece(stored, from, to))
      room -= to - from
      from = to
    }
  }
  return lists
}

const subjectsOf = (stored: StoredEvents): StoredEvents[11] => stored[11]

function piece(stored: StoredEvents, from: number, to: number): StoredEvents {
  const [type, sequence, at, code, send, price, hasReference, sender, shortCode, answers, text] = stored
  const [subjects, numbers, copy] = [stored[11], stored[12], stored[13]]
  const [some, its] = [subjects.slice(from, to), numbers?.slice(from, to) ?? null]
  const cut = [
    type,
    sequence,
    at,
    code,
    send,
    price,
    hasReference,
    sender,
    shortCode,
    answers,
    text,
    some,
    its,
  ] as const
  return copy === undefined ? cut : [...cut, copy]
}

import {
  bodyOf,
  type AccountId,
  type Body,
  type ClaimedMessage,
  type Instant,
  type MessageId,
  type Msisdn,
  type Suppression,
} from '@gateway/core'
import type { ClaimedRange } from '../sql/claim-row.ts'
import { suppressionOf } from '../suppressions/suppression-kind.ts'

const nobody: ReadonlySet<Suppression> = new Set()

/** The messages of claimed ranges in order of their ids. Those of one send share one body. */
export function claimedMessages(ranges: readonly ClaimedRange[]): ClaimedMessage[] {
  const bodies = new Map<string, Body>()
  const messages: ClaimedMessage[] = []
  for (const range of [...ranges].sort((a, b) => a.lo - b.lo)) {
    const body = bodies.get(range.body) ?? storedBody(range)
    bodies.set(range.body, body)
    const suppressed = range.suppressed === null ? undefined : suppressedPlaces(range.suppressed)
    for (const [i, number] of range.numbers.split(',').entries()) {
      messages.push({
        id: (range.lo + i) as MessageId,
        send: range.send as MessageId,
        account: range.account as AccountId,
        from: undefined,
        to: number as Msisdn,
        body,
        due: range.due as Instant,
        confirmation: false,
        attempt: range.attempt,
        accountLocked: range.locked,
        suppressions: suppressed?.get(i + 1) ?? nobody,
      })
    }
  }
  return messages
}

/** What was accepted is sent, even if its text would be judged otherwise today: any text can be written in UCS-2. */
function storedBody({ body: text, parts }: ClaimedRange): Body {
  const body = bodyOf(text)
  return typeof body === 'string' ? { text, encoding: 'ucs-2', parts } : body
}

function suppressedPlaces(text: string): ReadonlyMap<number, ReadonlySet<Suppression>> {
  const places = new Map<number, Set<Suppression>>()
  for (const entry of text.split(',')) {
    const [place = 0, kind = 0] = entry.split(':').map(Number)
    places.set(place, (places.get(place) ?? new Set()).add(suppressionOf(kind)))
  }
  return places
}

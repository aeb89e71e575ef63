import { randomUUID } from 'node:crypto'
import type { CarrierId } from '@gateway/core/dispatch'
import {
  addPart,
  isPart,
  joinParts,
  readInboundMessage,
  type InboundMessage,
  type ReceivedText,
  type WaitingPart,
} from '@gateway/core/inbox'
import type { Connection } from '../connections.ts'
import { findJoinedParts, lockParts, noteParts as notePartsStatement, writeParts } from '../sql/inbound.ts'
import { groupOf, joinedKeyOf, type Keyed } from './keyed.ts'

/** Complete text: no further part is expected. */
export interface WholeText extends ReceivedText {
  readonly carrier: CarrierId
}

type Common = Pick<InboundMessage, 'carrier' | 'from' | 'to'>

const whole = ({ carrier, from, to }: Common, text: string): WholeText => ({
  carrier,
  ...readInboundMessage({ from, to, text }),
})

/** Parses the stored parts of one text. */
const partsIn = (json: string) => JSON.parse(json) as readonly WaitingPart[]

/** Joins the waiting parts of one text, as far as they have arrived. */
export function joined({ common, parts }: { readonly common: string; readonly parts: string }): WholeText {
  const { carrier, from, to } = JSON.parse(common) as Omit<Common, 'to'> & { readonly to?: string }
  return whole({ carrier, from, to }, joinParts(partsIn(parts)))
}

interface WholeTexts {
  /** Complete texts, in the order in which they became complete. */
  readonly texts: readonly WholeText[]
  /** Parts that wait for others. */
  readonly incomplete: ReadonlySet<Keyed>
  /** Parts that had arrived before. They may still wait, or their text may be complete. */
  readonly repeated: ReadonlySet<Keyed>
}

/** Returns the texts that are complete now, and stores the parts of the others. */
export async function wholeTexts(connection: Connection, items: readonly Keyed[]): Promise<WholeTexts> {
  const groups = new Map(
    items.flatMap(({ message }) => (isPart(message) ? [[groupOf(message), message] as const] : [])),
  )
  const rows =
    groups.size === 0 ? [] : await connection.run(lockParts, { keys: [...groups.keys()], common: commonOf(groups) })
  const waiting = new Map(rows.map(({ key, parts }) => [key, partsIn(parts)]))
  const joined = await joinedBefore(connection, items)
  const joinedNow: string[] = []
  const incomplete = new Set<Keyed>()
  const repeated = new Set<Keyed>()
  const texts = items.flatMap((item) => {
    const { message } = item
    if (!isPart(message)) return whole(message, message.text)
    const group = groupOf(message)
    const added = addPart(waiting.get(group) ?? [], message.part, message.text)
    if (added.isRepeated || joined.has(joinedKeyOf(group, { number: message.part.number, text: message.text }))) {
      repeated.add(item)
      return []
    }
    waiting.set(group, added.waiting)
    if (added.complete === undefined) incomplete.add(item)
    return [added.over, added.complete].flatMap((parts) => {
      if (parts === undefined) return []
      for (const key of parts.map((part) => joinedKeyOf(group, part))) {
        joined.add(key)
        joinedNow.push(key)
      }
      return whole(message, joinParts(parts))
    })
  })
  // Recording the key of a repeated part again takes it from this operation. If the answer to the commit is lost, the
  // second run therefore reports the part as repeated.
  await noteParts(connection, [...joinedNow, ...[...repeated].map(({ key }) => key)])
  if (waiting.size > 0) {
    const parts = [...waiting.values()].map((ofText) => JSON.stringify(ofText))
    await connection.run(writeParts, { keys: [...waiting.keys()], parts })
  }
  return { texts, incomplete, repeated }
}

/** Returns the digests of parts whose texts were completed recently. To be called while their groups are locked. */
async function joinedBefore(connection: Connection, items: readonly Keyed[]): Promise<Set<string>> {
  const keys = items.flatMap(({ message }) => {
    if (!isPart(message)) return []
    return [joinedKeyOf(groupOf(message), { number: message.part.number, text: message.text })]
  })
  const rows = keys.length === 0 ? [] : await connection.run(findJoinedParts, { keys })
  return new Set(rows.map(({ key }) => key))
}

/**
 * Records the digests of parts whose texts are complete now, and the keys of repeated parts, for an operation that no
 * other call uses.
 */
export async function noteParts(connection: Connection, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  await connection.run(notePartsStatement, { keys: [...new Set(keys)], operation: randomUUID() })
}

/** Returns the digests of the parts of a text. */
export const joinedKeysOf = ({ key, parts }: { readonly key: string; readonly parts: string }): readonly string[] =>
  partsIn(parts).map((part) => joinedKeyOf(key, part))

const commonOf = (groups: ReadonlyMap<string, Common>): readonly string[] =>
  [...groups.values()].map(({ carrier, from, to }) => JSON.stringify({ carrier, from, to }))

/**
 * Upper bound for the number of confirmations for these messages. A part may complete two texts: an earlier text that
 * waited under the same group, and the text to which the part belongs.
 */
export const confirmationsMax = (items: readonly Keyed[]): number =>
  items
    .map(({ message }) => (isPart(message) ? 2 : Number(readInboundMessage(message).keyword === 'opt-out')))
    .reduce((sum, count) => sum + count, 0)

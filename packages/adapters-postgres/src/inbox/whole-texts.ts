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
import { lockParts, writeParts } from '../sql/inbound.ts'
import { groupOf, type Keyed } from './keyed.ts'

/** A text of which no part is to come any more. */
export interface WholeText extends ReceivedText {
  readonly carrier: CarrierId
}

type Common = Pick<InboundMessage, 'carrier' | 'from' | 'to'>

const whole = ({ carrier, from, to }: Common, text: string): WholeText => ({
  carrier,
  ...readInboundMessage({ from, to, text }),
})

/** The parts of one text that waited, put together as far as they are there. */
export function joined({ common, parts }: { readonly common: string; readonly parts: string }): WholeText {
  const { carrier, from, to } = JSON.parse(common) as Omit<Common, 'to'> & { readonly to?: string }
  return whole({ carrier, from, to }, joinParts(JSON.parse(parts) as readonly WaitingPart[]))
}

/** The texts that are whole by now, in the order in which they became so, and the parts that wait for others. */
export async function wholeTexts(
  connection: Connection,
  items: readonly Keyed[],
): Promise<{ readonly texts: readonly WholeText[]; readonly incomplete: ReadonlySet<Keyed> }> {
  const groups = new Map(
    items.flatMap(({ message }) => (isPart(message) ? [[groupOf(message), message] as const] : [])),
  )
  const rows =
    groups.size === 0 ? [] : await connection.run(lockParts, { keys: [...groups.keys()], common: commonOf(groups) })
  const waiting = new Map(rows.map(({ key, parts }) => [key, JSON.parse(parts) as readonly WaitingPart[]]))
  const incomplete = new Set<Keyed>()
  const texts = items.flatMap((item) => {
    const { message } = item
    if (!isPart(message)) return whole(message, message.text)
    const group = groupOf(message)
    const added = addPart(waiting.get(group) ?? [], message.part, message.text)
    waiting.set(group, added.waiting)
    if (added.complete === undefined) incomplete.add(item)
    return [added.over, added.complete].flatMap((parts) => (parts ? whole(message, joinParts(parts)) : []))
  })
  if (waiting.size > 0) {
    const parts = [...waiting.values()].map((left) => JSON.stringify(left))
    await connection.run(writeParts, { keys: [...waiting.keys()], parts })
  }
  return { texts, incomplete }
}

const commonOf = (groups: ReadonlyMap<string, Common>): readonly string[] =>
  [...groups.values()].map(({ carrier, from, to }) => JSON.stringify({ carrier, from, to }))

/**
 * More confirmations than can follow from these. A part may end two texts: what waited under the name of its group, and
 * its own.
 */
export const confirmationsMax = (items: readonly Keyed[]): number =>
  items
    .map(({ message }) => (isPart(message) ? 2 : Number(readInboundMessage(message).keyword === 'opt-out')))
    .reduce((sum, count) => sum + count, 0)

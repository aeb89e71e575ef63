import {
  isPart,
  joinParts,
  readInboundMessage,
  type InboundMessage,
  type CarrierId,
  type ReceivedText,
} from '@gateway/core'
import type { Connection } from '../connections.ts'
import { arrayOf } from '../sql/arrays.ts'
import { addParts, type JoinedParts } from '../sql/receive.ts'
import { groupOf } from './digests.ts'
import type { Keyed } from './keyed.ts'

/** A text of which no part is to come any more. */
export interface WholeText extends ReceivedText {
  readonly carrier: CarrierId
}

type Common = Pick<InboundMessage, 'carrier' | 'from' | 'to'>

const whole = ({ carrier, from, to }: Common, text: string): WholeText => ({
  carrier,
  ...readInboundMessage({ from, to, text }),
})

/** The parts of one text, put together as far as they are there. */
export function joined({ common, places, pieces }: Omit<JoinedParts, 'part' | 'complete'>): WholeText {
  const parts = places.map((number, i) => ({
    text: JSON.parse(pieces[i] ?? '""') as string,
    part: { group: 0, number, of: places.length },
  }))
  const { carrier, from, to } = JSON.parse(common) as Pick<InboundMessage, 'carrier' | 'from'> & {
    readonly to?: string
  }
  return whole({ carrier, from, to }, joinParts(parts))
}

/** The texts that are whole by now, in the order in which they became so, and the parts that wait for others. */
export async function wholeTexts(
  connection: Connection,
  items: readonly Keyed[],
): Promise<{ readonly texts: readonly WholeText[]; readonly incomplete: ReadonlySet<Keyed> }> {
  const parts = items.filter(({ message }) => isPart(message))
  const rows = parts.length === 0 ? [] : await connection.run(addParts, valuesOf(parts))
  const ended = new Map<Keyed, JoinedParts[]>()
  for (const row of rows) {
    const part = parts[row.part - 1]
    if (part !== undefined) ended.set(part, [...(ended.get(part) ?? []), row])
  }
  const texts = items.flatMap((item) =>
    isPart(item.message) ? (ended.get(item) ?? []).map(joined) : whole(item.message, item.message.text),
  )
  const isWaiting = (part: Keyed) => ended.get(part)?.some(({ complete }) => complete) !== true
  return { texts, incomplete: new Set(parts.filter(isWaiting)) }
}

const valuesOf = (parts: readonly Keyed[]): readonly unknown[] => [
  arrayOf(parts.map(({ message }) => groupOf(message))),
  parts.map(({ message: { carrier, from, to } }) => JSON.stringify({ carrier, from, to })),
  arrayOf(parts.map(({ message }) => message.part?.number ?? 0)),
  arrayOf(parts.map(({ message }) => message.part?.of ?? 0)),
  parts.map(({ message }) => JSON.stringify(message.text)),
]

/** More confirmations than can follow from these. A part may end two texts: what waited under the name of its group, and its own. */
export const confirmationsMax = (items: readonly Keyed[]): number =>
  items
    .map(({ message }) => (isPart(message) ? 2 : Number(readInboundMessage(message).keyword === 'opt-out')))
    .reduce((sum, count) => sum + count, 0)

import type { Body, OptKeyword } from '@gateway/core'
import type { Connection } from '../connections.ts'
import type { Context } from '../context.ts'
import type { IdRange } from '../messages/message-ids.ts'
import { arrayOf, arrayOfNullable } from '../sql/arrays.ts'
import { receiveTexts } from '../sql/receive-texts.ts'
import type { WholeText } from './whole-texts.ts'

const keywords: Readonly<Record<OptKeyword, number>> = { 'opt-out': 1, 'opt-in': 2 }

/** Stores texts with what follows from each; returns how many of the ids, of the first ones, have become confirmations. */
export async function storeTexts(
  { carrierNumber }: Pick<Context, 'carrierNumber'>,
  connection: Connection,
  texts: readonly WholeText[],
  confirmation: Body,
  ids: readonly IdRange[],
): Promise<number> {
  if (texts.length === 0) return 0
  const carriers = await Promise.all(texts.map(({ carrier }) => carrierNumber(carrier)))
  const [row] = await connection.run(receiveTexts, [
    arrayOf(carriers),
    texts.map(({ from }) => from),
    arrayOfNullable(texts.map(({ number }) => number)),
    texts.map(({ to }) => to ?? null),
    texts.map(({ text }) => text),
    arrayOf(texts.map(({ keyword }) => (keyword === undefined ? 0 : keywords[keyword]))),
    arrayOf(ids.flatMap(({ lo, hi }) => Array.from({ length: hi - lo }, (_, i) => lo + i))),
    confirmation.text,
    confirmation.parts,
  ])
  return row?.used ?? 0
}

/** What is left of ids without the first `used`. */
export function without(ids: readonly IdRange[], used: number): readonly IdRange[] {
  let left = used
  return ids.map((range) => {
    const lo = Math.min(range.hi, range.lo + left)
    left -= lo - range.lo
    return { ...range, lo }
  })
}

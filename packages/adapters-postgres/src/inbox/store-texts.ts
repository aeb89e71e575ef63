import {
  routeNumberOf,
  type AccountId,
  type Body,
  type Msisdn,
  type PublishedRoute,
  type SenderAddress,
} from '@gateway/core'
import type { Connection } from '../connections.ts'
import type { Context } from '../context.ts'
import type { IdRange } from '../messages/message-ids.ts'
import { arrayOf, arrayOfNullable } from '../sql/arrays.ts'
import { receiveTexts, type ConfirmationRow } from '../sql/receive-texts.ts'
import { storeConfirmations } from '../sql/store-confirmations.ts'
import { OPT_KEYWORD } from '../stored-codes.ts'
import type { WholeText } from './whole-texts.ts'

/** How opt-outs are confirmed: the text, ids for as many as there may be, and the routes that they go by. */
export interface Confirming {
  readonly body: Body
  readonly ids: readonly IdRange[]
  readonly routes: readonly PublishedRoute[]
}

/** Stores texts with what follows from each; returns how many of the ids, of the first ones, have become confirmations. */
export async function storeTexts(
  { carrierNumber }: Pick<Context, 'carrierNumber'>,
  connection: Connection,
  texts: readonly WholeText[],
  confirming: Confirming,
): Promise<number> {
  if (texts.length === 0) return 0
  const carriers = await Promise.all(texts.map(({ carrier }) => carrierNumber(carrier)))
  const confirmations = await connection.run(receiveTexts, [
    arrayOf(carriers),
    texts.map(({ from }) => from),
    arrayOfNullable(texts.map(({ number }) => number)),
    texts.map(({ to }) => to ?? null),
    texts.map(({ text }) => text),
    arrayOf(texts.map(({ keyword }) => (keyword === undefined ? 0 : OPT_KEYWORD[keyword]))),
  ])
  if (confirmations.length > 0) await confirm(connection, confirmations, confirming)
  return confirmations.length
}

async function confirm(
  connection: Connection,
  confirmations: readonly ConfirmationRow[],
  { body, ids, routes }: Confirming,
): Promise<void> {
  const all = ids.flatMap(({ lo, hi }) => Array.from({ length: hi - lo }, (_, i) => lo + i))
  await connection.run(storeConfirmations, [
    arrayOf(all.slice(0, confirmations.length)),
    arrayOf(confirmations.map(({ account }) => account)),
    arrayOf(confirmations.map(({ sender }) => sender)),
    arrayOf(confirmations.map(({ number }) => number)),
    arrayOf(confirmations.map((one) => routeNumberOf(routes, routedBy(one)))),
    body.text,
    body.parts,
  ])
}

const routedBy = ({ account, address, number }: ConfirmationRow) => ({
  account: account as AccountId,
  from: address as SenderAddress,
  to: String(number) as Msisdn,
})

/** What is left of ids without the first `used`. */
export function without(ids: readonly IdRange[], used: number): readonly IdRange[] {
  let left = used
  return ids.map((range) => {
    const lo = Math.min(range.hi, range.lo + left)
    left -= lo - range.lo
    return { ...range, lo }
  })
}

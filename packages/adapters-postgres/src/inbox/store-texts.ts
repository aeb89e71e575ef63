import type { Body } from '@gateway/core/messages'
import { routeNumberOf, type PublishedRoute } from '@gateway/core/routes'
import type { Connection } from '../connections.ts'
import type { Context } from '../context.ts'
import type { IdRange } from '../messages/message-ids.ts'
import { receiveTexts, storeConfirmations } from '../sql/inbound.ts'
import type { RowOf } from '../sql/statement.ts'
import { OPT_KEYWORD } from '../stored-codes.ts'
import type { WholeText } from './whole-texts.ts'

/** Data for confirming opt-outs: the text, enough ids, and the routes. */
export interface Confirming {
  readonly body: Body
  readonly ids: readonly IdRange[]
  readonly routes: readonly PublishedRoute[]
}

type Confirmation = RowOf<typeof receiveTexts>

/** Stores texts with their consequences. Returns how many of the first ids were used for confirmations. */
export async function storeTexts(
  { carrierNumber }: Pick<Context, 'carrierNumber'>,
  connection: Connection,
  texts: readonly WholeText[],
  confirming: Confirming,
): Promise<number> {
  if (texts.length === 0) return 0
  const carriers = await Promise.all(texts.map(({ carrier }) => carrierNumber(carrier)))
  const confirmations = await connection.run(receiveTexts, {
    carriers,
    from: texts.map(({ from }) => from),
    numbers: texts.map(({ number }) => number),
    to: texts.map(({ to }) => to),
    texts: texts.map(({ text }) => text),
    keywords: texts.map(({ keyword }) => (keyword === undefined ? 0 : OPT_KEYWORD[keyword])),
  })
  if (confirmations.length > 0) await confirm(connection, confirmations, confirming)
  return confirmations.length
}

async function confirm(
  connection: Connection,
  confirmations: readonly Confirmation[],
  { body, ids, routes }: Confirming,
): Promise<void> {
  const all = ids.flatMap(({ lo, hi }) => Array.from({ length: hi - lo }, (_, i) => lo + i))
  await connection.run(storeConfirmations, {
    ids: all.slice(0, confirmations.length),
    accounts: confirmations.map(({ account }) => account),
    senders: confirmations.map(({ sender }) => sender),
    numbers: confirmations.map(({ number }) => number),
    routes: confirmations.map((one) => routeNumberOf(routes, routedBy(one))),
    text: body.text,
    parts: body.parts,
  })
}

const routedBy = ({ account, address, number }: Confirmation) => ({ account, from: address, to: number })

/** Returns the ranges of ids without the first `used` ids. */
export function without(ids: readonly IdRange[], used: number): readonly IdRange[] {
  let toRemove = used
  return ids.map((range) => {
    const lo = Math.min(range.hi, range.lo + toRemove)
    toRemove -= lo - range.lo
    return { ...range, lo }
  })
}

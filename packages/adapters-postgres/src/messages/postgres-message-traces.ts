import { times } from '@gateway/core/credits'
import {
  bodyOf,
  isAcceptedByCarrier,
  traceLinesMax,
  type DecidedLocation,
  type FoundLocation,
  type FoundMessage,
  type MessageId,
  type MessageTrace,
  type SentMessages,
  type TracedRoute,
} from '@gateway/core/messages'
import type { Context } from '../context.ts'
import { messageOfPart } from '../smpp-customers/statuses-of-parts.ts'
import { fromRow, type RowOf } from '../sql/statement.ts'
import {
  explainMessage,
  findMessages,
  findReferenced,
  type DecidedRow,
  type FoundDecidedRow,
  type MessageTraceRow,
} from '../sql/traces.ts'

export const postgresMessageTraces = ({ pools: { ordinary } }: Context): Pick<SentMessages, 'trace' | 'search'> => ({
  trace: async (id) => {
    const explain = async (message: MessageId) =>
      (await ordinary.run(explainMessage, { message, linesMax: traceLinesMax }))[0]
    const row = await explain(id)
    if (row !== undefined) return traceOf(id, row)
    const joined = await messageOfPart(ordinary, id)
    const found = joined === undefined ? undefined : await explain(joined)
    return joined === undefined || found === undefined ? undefined : traceOf(joined, found)
  },
  search: async (search, decidedSince, limit) => {
    const { account, from, to, after } = search
    const bounds = { account, from, to, afterDue: after?.due, afterId: after?.id, decidedSince, limit }
    const { number, reference } = search
    const rows = await (number !== undefined && reference === undefined
      ? ordinary.run(findMessages, { ...bounds, number })
      : ordinary.run(findReferenced, { ...bounds, number, reference: reference ?? '' }))
    return rows.map(foundOf)
  },
})

function foundOf({ place, ...row }: RowOf<typeof findMessages>): FoundMessage {
  return {
    ...fromRow(row),
    place: place.place === 'decided' ? foundDecided(place) : place,
  }
}

const foundDecided = ({ code, at, hasReference, byHand }: FoundDecidedRow): FoundLocation => ({
  ...{ place: 'decided', code, at },
  refunded: byHand || !isAcceptedByCarrier({ code, hasReference }),
})

function traceOf(
  id: MessageId,
  {
    first,
    messages,
    parts,
    body,
    refunds,
    carrierPrices,
    place,
    route,
    incidents,
    refundByHand,
    byHand,
    bind,
    ...row
  }: MessageTraceRow,
): MessageTrace {
  const { cost } = row
  return {
    ...fromRow(row),
    id,
    text: { characters: Array.from(body).length, encoding: encodingOf(body), parts },
    send: {
      first,
      messages,
      debit: times(cost, messages),
      refunds: refunds.map(({ code, ...refund }) => ({
        ...refund,
        code: code ?? undefined,
        messages: cost === 0 ? undefined : refund.amount / cost,
      })),
      carrierPrices,
    },
    ...(bind !== null && { bind: fromRow(bind) }),
    refundByHand: refundByHand ?? undefined,
    route: route === null ? undefined : routeOf(route),
    incidents: incidents.map(fromRow),
    place: place.place === 'decided' ? decidedPlace(place, byHand) : place,
  }
}

/** Returns the encoding in which a text was sent. A text that this version would refuse was sent in UCS-2. */
function encodingOf(text: string): MessageTrace['text']['encoding'] {
  const body = bodyOf(text)
  return typeof body === 'string' ? 'ucs-2' : body.encoding
}

function decidedPlace(row: DecidedRow, byHand: boolean): DecidedLocation {
  const { parts, carrierPrice, ...rest } = row
  const { code, reference } = rest
  return {
    ...fromRow(rest),
    parts: parts.map(fromRow),
    refunded: byHand || !isAcceptedByCarrier({ code, hasReference: reference !== null }),
    ...(carrierPrice !== null && { carrierPrice }),
  }
}

/** Returns the route. It has no field `overflow` if the overflow is the default. */
function routeOf(row: NonNullable<MessageTraceRow['route']>): TracedRoute {
  const { overflow, ...route } = fromRow(row)
  return { ...route, ...(overflow && { overflow }) }
}

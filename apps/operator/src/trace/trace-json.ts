import {
  refundsOf,
  tracedCredits,
  type MessageLocation,
  type MessageTrace,
  type TracedRefund,
  type TracedRoute,
  type Waiting,
} from '@gateway/core/messages'
import { overflowOf, type Overflow, type OverflowAfter } from '@gateway/core/routes'
import type { Instant } from '@gateway/core/time'
import { outcomeMeaning, outcomeStatus, creditsJson, sentCreditsJson, timeJson } from '../show.ts'
import type { Json } from '../output.ts'
import { bindJson } from './bind-text.ts'
import { attemptsOf, isRefunded, locationText } from './trace-text.ts'

export function traceJson(trace: MessageTrace, now: Instant, waiting: Waiting | undefined): Json {
  const { own, others } = refundsOf(trace)
  return {
    id: trace.id,
    account: trace.account,
    number: trace.number,
    from: trace.from ?? null,
    confirmation: trace.confirmation,
    accepted: timeJson(trace.accepted),
    scheduledTime: timeJson(trace.scheduled),
    expires: timeJson(trace.expires),
    priority: trace.options.priority ?? 0,
    flash: trace.options.flash ?? false,
    characters: trace.text.characters,
    encoding: trace.text.encoding,
    partCount: trace.text.parts,
    cost: creditsJson(trace.cost),
    ...sentCreditsJson(tracedCredits(trace)),
    reference: trace.reference ?? null,
    category: trace.options.category ?? null,
    bind: trace.bind === undefined ? null : bindJson(trace.bind),
    refunded: isRefunded(trace),
    refund: own === undefined ? null : { time: timeJson(own.at), statusCode: own.code ?? null, why: own.why ?? null },
    attempts: attemptsOf(trace),
    route: trace.route === undefined ? null : routeJson(trace.route),
    now: placeJson(trace.place),
    explanation: locationText(trace, now, waiting),
    waitsFor: waiting?.reason ?? null,
    waitsForCarriers: waiting?.carriers ?? [],
    incidents: trace.incidents.map(({ at, name: incident, carrier }) => ({
      time: timeJson(at),
      what: incident,
      carrier: carrier ?? null,
    })),
    keptReceipts: trace.receipts.map(({ at, carrier, reference, code, fits }) => ({
      time: timeJson(at),
      carrier,
      carrierId: reference,
      status: outcomeStatus(code),
      statusCode: code,
      fits,
    })),
    send: {
      firstMessage: trace.send.first,
      messages: trace.send.messages,
      cost: creditsJson(trace.send.debit),
      otherRefunds: others.map(refundJson),
      carrierPrices: trace.send.carrierPrices.map((sum) => ({ ...sum })),
    },
  }
}

const secondsJson = (after: OverflowAfter): number | null => (after === 'never' ? null : after)

const overflowJson = ({ single, bulk }: Overflow) => ({
  singleOverflowSeconds: secondsJson(single),
  bulkOverflowSeconds: secondsJson(bulk),
})

const routeJson = ({ name, place, prefixes, accounts, senders, carriers, overflow }: TracedRoute): Json => ({
  name,
  position: place ?? null,
  prefixes: [...prefixes],
  accounts: [...accounts],
  senders: [...senders],
  carriers: carriers.map((one) => ({ ...one })),
  ...overflowJson(overflowOf({ ...(overflow && { overflow }) })),
})

const refundJson = ({ code, messages, amount, first, last }: TracedRefund): Json => ({
  statusCode: code ?? null,
  messages: messages ?? null,
  amount: creditsJson(amount),
  firstTime: timeJson(first),
  lastTime: timeJson(last),
})

function placeJson(place: MessageLocation): Json {
  switch (place.place) {
    case 'scheduled':
      return { place: place.place, due: timeJson(place.due) }
    case 'postponed':
      return { place: place.place, until: timeJson(place.until), refusedForNow: place.attempt }
    case 'queue':
      return { place: place.place, lane: place.lane, due: timeJson(place.due), refusedForNow: place.attempt }
    case 'in-doubt':
      return { place: place.place, due: timeJson(place.due), refusedForNow: place.attempt }
    case 'claimed':
      return {
        place: place.place,
        dispatcher: place.dispatcher,
        carrier: place.carrier,
        mayHaveLeft: place.marked,
        refusedForNow: place.attempt,
        leaseUntil: timeJson(place.leaseUntil),
        leaseOver: place.overdue,
      }
    case 'decided':
      return {
        place: place.place,
        status: outcomeStatus(place.code),
        statusCode: place.code,
        meaning: outcomeMeaning(place.code),
        since: timeJson(place.at),
        decided: timeJson(place.stored),
        carrier: place.carrier ?? null,
        carrierId: place.reference ?? null,
        carrierPrice: place.carrierPrice === undefined ? null : { ...place.carrierPrice },
        parts: place.parts.map(({ reference, code, at }) => ({
          carrierId: reference,
          status: outcomeStatus(code),
          statusCode: code,
          time: timeJson(at),
        })),
      }
    case 'nowhere':
      return { place: place.place }
  }
}

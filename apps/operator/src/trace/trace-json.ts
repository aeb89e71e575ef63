import type { Instant, MessageLocation, MessageTrace, TracedRefund, TracedRoute } from '@gateway/core'
import { outcomeMeaning, outcomeStatus } from '../outcome-words.ts'
import type { Json } from '../output.ts'
import { creditsJson, timeJson } from '../show.ts'
import { attemptsOf, isRefunded } from './attempts.ts'
import { locationText } from './location-text.ts'

export const traceJson = (trace: MessageTrace, now: Instant): Json => ({
  id: trace.id,
  account: trace.account,
  number: trace.number,
  from: trace.from ?? null,
  confirmation: trace.confirmation,
  accepted: timeJson(trace.accepted),
  scheduled: timeJson(trace.scheduled),
  text: { ...trace.text },
  price: creditsJson(trace.cost),
  refunded: isRefunded(trace),
  attempts: attemptsOf(trace),
  route: trace.route === undefined ? null : routeJson(trace.route),
  now: placeJson(trace.place),
  explanation: locationText(trace, now),
  incidents: trace.incidents.map(({ at, what, carrier }) => ({ at: timeJson(at), what, carrier: carrier ?? null })),
  keptReceipts: trace.receipts.map(({ at, carrier, reference, code, fits }) => ({
    at: timeJson(at),
    carrier,
    carrierId: reference,
    status: outcomeStatus(code),
    statusCode: code,
    fits,
  })),
  send: {
    firstId: trace.send.first,
    messages: trace.send.messages,
    debit: creditsJson(trace.send.debit),
    refunds: trace.send.refunds.map(refundJson),
  },
})

const routeJson = ({ name, place, prefixes, accounts, senders, carriers }: TracedRoute): Json => ({
  name,
  place: place ?? null,
  prefixes: [...prefixes],
  accounts: [...accounts],
  senders: [...senders],
  carriers: carriers.map((one) => ({ ...one })),
})

const refundJson = ({ code, messages, amount, first, last }: TracedRefund): Json => ({
  statusCode: code ?? null,
  messages: messages ?? null,
  amount: creditsJson(amount),
  first: timeJson(first),
  last: timeJson(last),
})

function placeJson(place: MessageLocation): Json {
  switch (place.place) {
    case 'scheduled':
      return { place: place.place, due: timeJson(place.due) }
    case 'postponed':
      return { place: place.place, until: timeJson(place.until), attempt: place.attempt }
    case 'queue':
      return { place: place.place, lane: place.lane, due: timeJson(place.due), attempt: place.attempt }
    case 'claimed':
      return { ...place, leaseUntil: timeJson(place.leaseUntil) }
    case 'decided':
      return {
        place: place.place,
        status: outcomeStatus(place.code),
        statusCode: place.code,
        meaning: outcomeMeaning(place.code),
        at: timeJson(place.at),
        stored: timeJson(place.stored),
        carrier: place.carrier ?? null,
        carrierId: place.reference ?? null,
        parts: place.parts.map(({ reference, code, at }) => ({
          carrierId: reference,
          status: outcomeStatus(code),
          statusCode: code,
          at: timeJson(at),
        })),
      }
    case 'nowhere':
      return { place: place.place }
  }
}

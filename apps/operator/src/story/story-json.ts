import type { Instant, MessagePlace, MessageStory, StoryRefund } from '@gateway/core'
import { outcomeMeaning, outcomeStatus } from '../outcome-words.ts'
import type { Json } from '../output.ts'
import { creditsJson, timeJson } from '../show.ts'
import { attemptsOf, isRefunded } from './attempts.ts'
import { whereabouts } from './whereabouts.ts'

export const storyJson = (story: MessageStory, now: Instant): Json => ({
  id: story.id,
  account: story.account,
  number: story.number,
  from: story.from ?? null,
  confirmation: story.confirmation,
  accepted: timeJson(story.accepted),
  scheduled: timeJson(story.scheduled),
  text: { ...story.text },
  price: creditsJson(story.cost),
  refunded: isRefunded(story),
  attempts: attemptsOf(story),
  now: placeJson(story.place),
  explanation: whereabouts(story, now),
  incidents: story.incidents.map(({ at, what }) => ({ at: timeJson(at), what })),
  keptReceipts: story.receipts.map(({ at, carrier, reference, code, fits }) => ({
    at: timeJson(at),
    carrier,
    carrierId: reference,
    status: outcomeStatus(code),
    statusCode: code,
    fits,
  })),
  send: {
    firstId: story.send.first,
    messages: story.send.messages,
    debit: creditsJson(story.send.debit),
    refunds: story.send.refunds.map(refundJson),
  },
})

const refundJson = ({ code, messages, amount, first, last }: StoryRefund): Json => ({
  statusCode: code ?? null,
  messages: messages ?? null,
  amount: creditsJson(amount),
  first: timeJson(first),
  last: timeJson(last),
})

function placeJson(place: MessagePlace): Json {
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
      }
    case 'nowhere':
      return { place: place.place }
  }
}

import {
  INCIDENT,
  OUTCOME,
  type ClaimedLocation,
  type DecidedLocation,
  type Instant,
  type MessageLocation,
  type MessageTrace,
  type Waiting,
  type WaitingReason,
} from '@gateway/core'
import { outcomeText } from '../outcome-words.ts'
import { counted, durationText, timeText } from '../show.ts'

/** Where the message is, and what that means for it, in sentences. */
export function locationText(trace: MessageTrace, now: Instant, waiting: Waiting | undefined): string {
  const { place } = trace
  switch (place.place) {
    case 'scheduled':
      return `It waits for its time, ${timeText(place.due)}, and can still be deleted.`
    case 'postponed':
      return `The carrier has refused it for now, ${counted(place.attempt, 'time')} so far. It waits for another try, until ${timeText(place.until)}.`
    case 'queue':
      return `It waits in the queue, ${place.lane} lane, due since ${timeText(place.due)} (${durationText(now - place.due)}).${tried(place)}${waiting === undefined ? '' : ` ${whyText(waiting)}`}`
    case 'claimed':
      return claimed(place)
    case 'decided':
      return [`It is ${outcomeText(place.code)} since ${timeText(place.at)}.`, ...doubts(trace, place)].join(' ')
    case 'nowhere':
      return 'It waits nowhere, no dispatcher has it, and it has no outcome. This is a defect of the gateway: please report it.'
  }
}

const WHY: Readonly<Record<WaitingReason, (carriers: string) => string>> = {
  'not-due': () => 'It is not due.',
  'refused-for-now': () => 'It waits for another try.',
  'no-dispatcher': () => 'No dispatcher has been heard of lately: nothing is sent.',
  'route-withdrawn': () => 'Its route is not published any more; it is moved to another one soon.',
  'no-carrier': (carriers) => `No dispatcher works with ${carriers}, which its route names.`,
  'not-bound': (carriers) => `${carriers} not bound: see gateway carrier list.`,
  throttled: (carriers) => `${carriers} throttled: the carrier said that it gets too much.`,
  'window-full': (carriers) => `${carriers} taken up: all of the window waits for answers.`,
  'in-turn': () => 'A carrier can take it: others are before it.',
}

const whyText = ({ reason, carriers }: Waiting): string => {
  const names = carriers.join(', ')
  const areOrIs = carriers.length === 1 ? `Carrier ${names} is` : `All of the carriers ${names} are`
  return WHY[reason](reason === 'no-carrier' ? names : areOrIs)
}

const tried = ({ attempt }: Extract<MessageLocation, { place: 'queue' }>): string =>
  attempt === 0 ? '' : ` The carrier has refused it for now, ${counted(attempt, 'time')} so far.`

function claimed({ dispatcher, carrier, marked, leaseUntil, overdue }: ClaimedLocation): string {
  const has = marked
    ? 'It is marked: it may have been submitted, and the answer is not stored yet.'
    : 'It is not marked: it has not been submitted.'
  const decision = marked ? 'call its outcome unknown (SENT 106)' : 'give it back to the queue'
  const lease = overdue
    ? `The lease of this dispatcher was over at ${timeText(leaseUntil)}: unless it comes back at once, recovery will ${decision}.`
    : `The lease of this dispatcher lasts until ${timeText(leaseUntil)}.`
  return `Dispatcher ${dispatcher} has claimed it for carrier ${carrier}. ${has} ${lease}`
}

/** What an unknown outcome means. */
function doubts({ incidents }: MessageTrace, { code, reference, at, stored }: DecidedLocation): readonly string[] {
  if (code !== OUTCOME.unknown) return []
  const was = (what: string) => incidents.some((incident) => incident.what === what)
  if (reference !== undefined) {
    return was(INCIDENT.adopted) && at === stored
      ? ['A receipt that fits no other message is taken for its own, and will be applied.']
      : ['The carrier itself says that it does not know.']
  }
  const why = was(INCIDENT.recovered)
    ? 'its dispatcher ended, or was cut off, before an answer was stored'
    : 'the carrier did not give an answer that tells'
  return [
    `Nobody knows whether the carrier took it: ${why}. It may have reached its recipient or not.`,
    'It is not sent again, and stays charged. A receipt or a late answer may still settle it.',
  ]
}

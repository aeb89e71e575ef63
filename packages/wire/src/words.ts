import { formatCredits, type TransferRefusal } from '@gateway/core/credits'
import {
  INCIDENT,
  stateOf,
  deliveryState,
  hasOutcome,
  type Deletion,
  type DeliveryState,
  type MessageStatus,
  type Refusal,
  type MessageLabels,
} from '@gateway/core/messages'
import { formatMinute } from '@gateway/core/time'

/** Words for the refusal of a number, in the query-string interface (spec 4.2, rule 2) and in REST (ruling 2.5). */
export const RECIPIENT_ERROR = {
  'account-locked': 'ACCOUNTLOCKED',
  'no-message': 'NO MESSAGE', // a blank text is an error of the whole call before anybody is screened (ruling 1.10)
  'too-long': 'TOOLONG',
  'no-number': 'BADDEST',
  'invalid-number': 'BADDEST',
  blacklisted: 'BADDEST',
  'trial-to-self': 'TRIALNOT2SELF',
  'opted-out': 'OPTEDOUT',
  'do-not-contact': 'WASPADNC',
  'insufficient-credits': 'INSUFFICIENT CREDITS',
} as const satisfies Record<Refusal, string>

const STATE = { delivered: 'DELIVERED', sent: 'SENT', failed: 'SENDINGFAILED' } as const

/** Returns the word and the code of a status (spec 3; ruling 1.16). */
export function statusWords(status: MessageStatus): { readonly word: string; readonly code: number } {
  if (status === 'not-found') return { word: 'NOTFOUND', code: -2 }
  if (status.code === 'waiting') return { word: 'NOTFOUND', code: -1 }
  return { word: STATE[stateOf(status.code)], code: status.code }
}

/**
 * Values of `statusErrorCode` in REST and webhooks. Clients decide by it whether to query or to send again (ruling
 * 2.7).
 */
export const STATUS_ERROR_CODE = {
  delivered: '',
  waiting: 'INQUEUE',
  sent: 'SENT',
  'not-delivered': 'FAILED',
  'not-sent': 'SENDINGFAILED',
  'not-found': 'NOTFOUND',
} as const satisfies Record<DeliveryState, string>

/** Words for the outcome of a deletion, in the query-string and XML interfaces (spec 4.2, 4.3; ruling 1.15). */
export const DELETION = {
  deleted: 'DELETED',
  sent: 'SENT',
  'not-found': 'NOTFOUND',
} as const satisfies Record<Deletion['outcome'], string>

/** Words for the refusal of a transfer, in the query-string interface (spec 4.2) and in REST (ruling 2.13). */
export const TRANSFER_ERROR = {
  'invalid-from-account': 'invalidFromAccount',
  'invalid-to-account': 'invalidToAccount',
  'from-account-locked': 'lockedFromAccount',
  'to-account-locked': 'lockedToAccount',
  'same-account': 'sameAccount',
  'invalid-quantity': 'invalidQuantity',
  'insufficient-credits': 'insufficientCredits',
} as const satisfies Record<Exclude<TransferRefusal, 'failed'>, string>

/**
 * Returns the fields that follow the id and the number of a message in REST and webhooks, as JSON text (ruling 2.7).
 * `now` is the minute shown as `statusTime` if the message has no outcome yet.
 */
export function statusFields(status: MessageStatus, now: string): string {
  const { word, code } = statusWords(status)
  const state = deliveryState(status)
  return (
    `"statusDelivered":${state === 'delivered'},"statusErrorCode":"${STATUS_ERROR_CODE[state]}"` +
    `,"statusTime":"${hasOutcome(status) ? formatMinute(status.at) : now}"` +
    `,"creditCost":${typeof status === 'object' ? formatCredits(status.cost) : '0.0'}` +
    `,"status":"${word}","statusCode":${code}`
  )
}

/** Fields of REST and webhooks for the labels of a message, in this order. They have the same names as in core. */
const labelNames = ['reference', 'category'] as const satisfies readonly (keyof MessageLabels)[]

/** Returns JSON fields to follow others, one for each label that the message has (ruling 1.28). */
export function labelFields(labels: MessageLabels): string {
  let fields = ''
  for (const name of labelNames) if (labels[name] !== undefined) fields += `,"${name}":${JSON.stringify(labels[name])}`
  return fields
}

/** Incidents in the history of a message, for people: clauses that a page or a command completes. */
const INCIDENT_TEXT: Readonly<Record<(typeof INCIDENT)[keyof typeof INCIDENT], string>> = {
  [INCIDENT.refusedForNow]: 'the carrier refused the message temporarily; it is tried again',
  [INCIDENT.recovered]: 'the connection to the carrier ended during the submission; the message may have been sent',
  [INCIDENT.unknown]: 'the carrier did not confirm whether it accepted the message',
  [INCIDENT.late]: 'the answer of the carrier arrived late',
  [INCIDENT.overflow]: 'the carriers of a better priority were full, so another carrier took over the message',
  [INCIDENT.adopted]: 'a receipt that fits no other message was assigned to the message',
  [INCIDENT.named]: 'a receipt that names the own id of the message was matched to it',
  [INCIDENT.repeated]: 'the message was submitted again under the same id, which the carrier recognizes',
  [INCIDENT.endedInDoubt]: 'a database server was lost, and it is unknown whether the message had been submitted',
  [INCIDENT.provedSubmitted]: 'a database server was lost after the message had been submitted',
  [INCIDENT.deliveryRefused]: 'the SMPP client of the customer refused the receipt or the reply for good',
  [INCIDENT.deliveryDropped]: 'no SMPP client of the customer acknowledged the receipt or the reply in time',
}

/**
 * Returns the text of an incident in the history of a message. A store of another version may record incidents without
 * a text here; their own name is returned.
 */
export const incidentText = (incident: string): string =>
  (INCIDENT_TEXT as Readonly<Record<string, string>>)[incident] ?? incident

import type { RowRefusal } from '@gateway/core/bulk-sends'
import type { TransferRefusal } from '@gateway/core/credits'
import {
  OUTCOME,
  stateOf,
  type MessageStatus,
  type OutcomeCode,
  type Refusal,
  type UnreadNumber,
} from '@gateway/core/messages'
import type { WebhookEventType } from '@gateway/core/webhooks'
import { statusWords } from '@gateway/wire'

export type Tone = 'good' | 'wait' | 'bad' | 'idle'

export interface StateWords {
  readonly word: string
  readonly tone: Tone
  /** Sentence that explains the state on the page of the message. */
  readonly meaning: string
}

const STATE: Readonly<Record<OutcomeCode, Pick<StateWords, 'word' | 'meaning'>>> = {
  [OUTCOME.delivered]: { word: 'delivered', meaning: 'The carrier says that it reached the phone.' },
  [OUTCOME.sent]: { word: 'on its way', meaning: 'The carrier has it and has not said yet whether it arrived.' },
  [OUTCOME.underWay]: {
    word: 'on its way',
    meaning: 'The carrier is still trying, for instance while the phone is off.',
  },
  [OUTCOME.unknown]: {
    word: 'unknown',
    meaning: 'It is unknown whether the carrier accepted it. It is not sent again and stays charged.',
  },
  [OUTCOME.expired]: { word: 'expired', meaning: 'It could not be delivered before its validity period ended.' },
  [OUTCOME.cancelled]: { word: 'cancelled', meaning: 'It was cancelled before it was delivered.' },
  [OUTCOME.undeliverable]: { word: 'not delivered', meaning: 'The carrier could not deliver it.' },
  [OUTCOME.rejected]: { word: 'rejected', meaning: 'The carrier rejected it.' },
  [OUTCOME.refused]: { word: 'refused', meaning: 'The carrier refused it when it was handed over.' },
  [OUTCOME.insufficientCredits]: { word: 'not sent', meaning: 'The account had too few credits for the whole text.' },
  [OUTCOME.tooLong]: { word: 'not sent', meaning: 'The joined text was too long.' },
  [OUTCOME.accountLocked]: { word: 'not sent', meaning: 'The account was locked when its turn came.' },
  [OUTCOME.optedOut]: { word: 'not sent', meaning: 'The person had opted out when its turn came.' },
  [OUTCOME.failed]: { word: 'not delivered', meaning: 'It failed, and the carrier gave no reason.' },
  [OUTCOME.blacklisted]: { word: 'not sent', meaning: 'The number was blocked when its turn came.' },
}

/** Returns the words for a status. `isScheduled` is true while the message waits for its scheduled time. */
export function stateWords(status: MessageStatus, isScheduled = false): StateWords {
  if (status === 'not-found') return { word: 'not found', tone: 'idle', meaning: 'There is no such message.' }
  return outcomeWords(status.code === 'waiting' ? undefined : status.code, isScheduled)
}

/** Returns the words for an outcome code, or for a waiting message if the code is undefined. */
export function outcomeWords(code: OutcomeCode | undefined, isScheduled = false): StateWords {
  if (code === undefined) {
    return isScheduled
      ? { word: 'scheduled', tone: 'idle', meaning: 'It waits for its time.' }
      : { word: 'waiting', tone: 'idle', meaning: 'It waits for its turn.' }
  }
  const state = stateOf(code)
  return { ...STATE[code], tone: state === 'delivered' ? 'good' : state === 'sent' ? 'wait' : 'bad' }
}

export const codeWord = (code: OutcomeCode): string => STATE[code].word

/** States by which messages can be filtered: label, and the predicate that selects the messages. */
export const STATE_FILTERS: Readonly<
  Record<string, readonly [title: string, fits: (status: MessageStatus) => boolean]>
> = {
  delivered: ['Delivered', (status) => toneIs(status, 'good')],
  'on-its-way': ['On their way', (status) => toneIs(status, 'wait') && !isUnknown(status)],
  waiting: ['Waiting or scheduled', (status) => toneIs(status, 'idle')],
  unknown: ['Unknown', (status) => isUnknown(status)],
  failed: ['Not delivered or not sent', (status) => toneIs(status, 'bad')],
}

const toneIs = (status: MessageStatus, tone: Tone): boolean =>
  status !== 'not-found' && stateWords(status).tone === tone
const isUnknown = (status: MessageStatus): boolean => status !== 'not-found' && status.code === OUTCOME.unknown

/** Returns the status in the words of the interfaces, such as `DELIVERED 0`, for readers who compare the two. */
export function specificationWords(status: MessageStatus): string {
  const { word, code } = statusWords(status)
  return `${word} ${code}`
}

/** Reasons why a number gets no message. */
export const REFUSAL: Readonly<Record<Refusal, string>> = {
  'account-locked': 'The account is locked',
  'no-message': 'There is no text',
  'too-long': 'The text is too long',
  'no-number': 'There is no number',
  'invalid-number': 'Not a mobile number that can be reached',
  blacklisted: 'Blocked by the operator',
  'trial-to-self': 'Your own number, in a trial account',
  'opted-out': 'Opted out',
  'do-not-contact': 'On the do-not-contact list',
  'insufficient-credits': 'Not enough credits',
}

/** Reasons why a row of a list gets no message. */
export const ROW_REFUSAL: Readonly<Record<RowRefusal, string>> = {
  ...REFUSAL,
  'scientific-notation': 'A spreadsheet rounded the number and digits are lost: format the column as text',
  'national-number': 'Begins with 0: the country code is missing',
  'trunk-prefix': 'There is an extra 0 after the country code',
  'uncertain-number': 'It is not certain which number is meant',
  repeated: 'The number is in the list already',
  'missing-value': 'A field of the text has no value in this row',
  'column-not-chosen': 'The column of the numbers is not chosen yet',
  'invalid-sender': 'Your account has no sender for this number or for one near it in the list',
  stopped: 'Stopped before its turn',
  'failed-over': 'May have been sent: a failover of the database stopped the send',
  unknown: 'It is unknown whether it was sent: search for the number in your messages',
}

/** Error messages for a number that was entered into a field and cannot be read. */
export const NUMBER_PROBLEM: Readonly<Record<UnreadNumber, string>> = {
  'no-number': 'Enter a mobile number with its country code, such as 27825550101.',
  'invalid-number': 'Enter a mobile number with its country code, such as 27825550101.',
  'national-number': 'This begins with 0. Enter the number with its country code, such as 27825550101.',
  'trunk-prefix': 'There is an extra 0 after the country code. Enter the number as 27825550101.',
  'scientific-notation': 'A spreadsheet has rounded this number. Enter all its digits, such as 27825550101.',
  'uncertain-number': 'It is not certain which number is meant. Enter its digits only, such as 27825550101.',
}

/** Reasons why a transfer of credits was refused. */
export const transferWords: Readonly<Record<TransferRefusal | 'another-request', string>> = {
  'invalid-from-account': 'Choose one of your accounts to take credits from.',
  'invalid-to-account': 'Choose one of your accounts to give credits to.',
  'same-account': 'Choose two different accounts.',
  'invalid-quantity': 'Enter a whole number of credits, such as 100.',
  'from-account-locked': 'The account that would give credits is locked.',
  'to-account-locked': 'The account that would get credits is locked.',
  'insufficient-credits': 'The account does not have that many credits.',
  failed: 'The credits could not be moved. Nothing has changed.',
  'another-request': 'This form was used for another transfer. Look at the balances before you try again.',
}

/** Events that a webhook can subscribe to. */
export const EVENT: Readonly<Record<WebhookEventType, string>> = {
  'message.delivered': 'Delivered messages',
  'message.failed': 'Failed messages',
  'message.unknown': 'Messages with an unknown outcome',
  'message.sent': 'Messages that a carrier accepted',
  'reply.received': 'Replies',
  'shortcode.received': 'Messages to your codes',
  'optout.added': 'People who opt out',
  'optout.removed': 'People who opt in again',
}

/**
 * Numbers that tables store for kinds, states and reasons. A code never changes and is never reused; a new value gets
 * the next number. docs/stored-codes.md lists them, together with values that are stored as words and the status codes
 * of messages (`OUTCOME`). Migrations contain the numbers themselves.
 */
import type { Rated } from '@gateway/core/accounts'
import type { Lane } from '@gateway/core/dispatch'
import type { OptKeyword } from '@gateway/core/inbox'
import { outcomeCode, type OutcomeCode } from '@gateway/core/messages'
import type { SmppDelivery } from '@gateway/core/smpp-customers'
import type { Suppression } from '@gateway/core/suppressions'
import {
  webhookEventTypes,
  type PushVerdict,
  type ReplayState,
  type WebhookEventType,
  type WebhookState,
} from '@gateway/core/webhooks'

/** Returns the inverse of a table of codes. A code that is missing in the inverse was written by another version. */
const namesOf = <Name extends string>(codes: Readonly<Record<Name, number>>): ReadonlyMap<number, Name> =>
  new Map(Object.entries<number>(codes).map(([name, code]) => [code, name as Name]))

export const LANE = { single: 0, bulk: 1 } as const satisfies Record<Lane, number>

export const lanes = namesOf(LANE)

/** Kinds of ledger entries. `send` occurs only in lists of movements, because the sends themselves are the debits. */
export const LEDGER = { send: 0, topUp: 1, transfer: 2, refund: 3, droppedSends: 4 } as const

/** Units that a rate limit counts. */
export const RATED = { requests: 0, recipients: 1 } as const satisfies Record<Rated, number>

export const SUPPRESSION = { 'opt-out': 1, 'do-not-contact': 2, blacklist: 3 } as const satisfies Record<
  Suppression,
  number
>

const suppressions = namesOf(SUPPRESSION)

export function suppressionOf(code: number): Suppression {
  const name = suppressions.get(code)
  if (name === undefined) throw new Error(`unknown kind of suppression: ${code}`)
  return name
}

/** Codes that are passed to `receive_inbound_messages`, but not stored. */
export const OPT_KEYWORD = { 'opt-out': 1, 'opt-in': 2 } as const satisfies Record<OptKeyword, number>

/** Codes of event types. Each is also the bit of the type in `webhook.events`, so the maximum is 30. */
export const EVENT_CODE = {
  'message.delivered': 0,
  'message.failed': 1,
  'message.unknown': 2,
  'message.sent': 3,
  'reply.received': 4,
  'shortcode.received': 5,
  'optout.added': 6,
  'optout.removed': 7,
  test: 8,
} as const satisfies Record<WebhookEventType | 'test', number>

const types = namesOf(EVENT_CODE)

/** Returns the type of a code, or undefined for a code that a newer version wrote. */
export const typeOfCode = (code: number): WebhookEventType | 'test' | undefined => types.get(code)

export const bitsOf = (eventTypes: readonly WebhookEventType[]): number =>
  eventTypes.reduce((bits, type) => bits | (1 << EVENT_CODE[type]), 0)

/** Returns the event types whose bits are set, without the types that this version does not know. */
export const typesOf = (bits: number): readonly WebhookEventType[] =>
  webhookEventTypes.filter((type) => (bits & (1 << EVENT_CODE[type])) !== 0)

export const WEBHOOK_STATE = { active: 0, paused: 1, disabled: 2 } as const satisfies Record<WebhookState, number>

export const webhookStates = namesOf(WEBHOOK_STATE)

/**
 * States of lists. `replayed`: the list was dead before its replay. `over`: the list was a failed test, or was divided.
 */
export const LIST_STATE = { open: 0, delivered: 1, dead: 2, replayed: 3, over: 4 } as const

/** Results of attempts to push a list. */
export const VERDICT = { delivered: 0, retry: 1, dead: 2, gone: 3, failed: 4 } as const satisfies Record<
  PushVerdict,
  number
>

export const verdicts = namesOf(VERDICT)

/** Kinds of deliveries to SMPP customers. */
export const DELIVERY_KIND = { receipt: 0, notification: 1, reply: 2 } as const satisfies Record<
  SmppDelivery['kind'],
  number
>

export const REPLAY_STATE = { running: 0, done: 1, stopped: 2 } as const satisfies Record<ReplayState, number>

export const replayStates = namesOf(REPLAY_STATE)

/** Returns the outcome with this code. Throws if there is none. */
export function knownCode(code: number): OutcomeCode {
  const outcome = outcomeCode(code)
  if (outcome === undefined) throw new Error(`unknown outcome code of a message: ${code}`)
  return outcome
}

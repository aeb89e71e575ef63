import {
  credits,
  type AccountId,
  type CarrierId,
  type Clock,
  type Credits,
  type DispatcherId,
  type Incident,
  type Instant,
  type KeyHash,
  type KeyId,
  type Lane,
  type MessageId,
  type Msisdn,
  type Suppression,
  type SuppressionScope,
} from '@gateway/core'
import { realClock } from './clock.ts'
import { rotation, type Rotation } from './rotation.ts'
import type { AccountRow, DispatcherRow, KeptReceipt, KeyRow, MessageRow, Range } from './rows.ts'

/** All that the adapters of one memory share; what a database is to those of Postgres. */
export interface MemoryStore {
  readonly clock: Clock
  /** The next number of a series that starts at 1. */
  next(series: 'account' | 'key' | 'message' | 'dispatcher' | 'flight'): number
  readonly accounts: Map<AccountId, AccountRow>
  /** By user name in lower case. */
  readonly logins: Map<string, AccountRow>
  readonly keys: Map<KeyId, KeyRow>
  readonly keysByHash: Map<KeyHash, KeyRow>
  readonly prices: Map<string, Credits>
  readonly suppressions: Map<SuppressionScope, Map<Msisdn, Map<Suppression, Instant>>>
  readonly messages: Map<MessageId, MessageRow>
  /** Scheduled, or to be tried again. */
  readonly later: Rotation
  readonly due: Readonly<Record<Lane, Rotation>>
  readonly dispatchers: Map<DispatcherId, DispatcherRow>
  /** The newest message of each reference of each carrier. */
  readonly references: Map<string, MessageRow>
  /** Messages of unknown outcome without a reference. */
  readonly unknown: Set<MessageRow>
  readonly incidents: Map<MessageId, Incident[]>
  /** Receipts that found no message, by reference, in order of arrival. */
  readonly receipts: Map<string, KeptReceipt[]>
}

/** An empty store; its one price is that of all numbers, 1.0 (ruling 1.4). */
export function memoryStore(clock: Clock = realClock()): MemoryStore {
  const series = { account: 0, key: 0, message: 0, dispatcher: 0, flight: 0 }
  const byId = (a: Range, b: Range) => firstId(a) - firstId(b)
  return {
    clock,
    next: (name) => ++series[name],
    accounts: new Map(),
    logins: new Map(),
    keys: new Map(),
    keysByHash: new Map(),
    prices: new Map([['', credits(10)]]),
    suppressions: new Map(),
    messages: new Map(),
    later: rotation((a, b) => a.at - b.at || byId(a, b)),
    due: { single: rotation(byId), bulk: rotation(byId) },
    dispatchers: new Map(),
    references: new Map(),
    unknown: new Set(),
    incidents: new Map(),
    receipts: new Map(),
  }
}

export const referenceKey = (carrier: CarrierId, reference: string): string => `${carrier} ${reference}`

const firstId = (range: Range): number => range.messages[0]?.id ?? range.send.first

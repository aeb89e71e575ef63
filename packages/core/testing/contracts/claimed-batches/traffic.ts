import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import type {
  ClaimedBatch,
  ClaimedMessage,
  DispatcherId,
  Handover,
  Lane,
  Recorded,
  Wanted,
} from '@gateway/core/dispatch'
import type { MessageId, Msisdn } from '@gateway/core/messages'
import { gatewayDay, type Instant } from '@gateway/core/time'
import { anAccount, anOrder, numbers, type AnySendOptions } from '../../builders.ts'
import { accepted, assertLedger, codesOf, longAgo, statusesOf, testCarrier, type Contract } from '../shared.ts'

export const granted = 1_000_000
export const leaseSeconds = 600
/** Lease in seconds that has already ended. It is negative by more than the clocks of store and test can differ. */
export const noLease = -60

export interface Sent extends AnySendOptions {
  /** Number of recipients, by default 1. */
  readonly to?: number
  /** Numbers of the recipients. Used instead of `to`. */
  readonly numbers?: readonly Msisdn[]
  readonly costs?: readonly number[]
  readonly due?: Instant
  readonly text?: string
}

/** The ports with helpers for the checks of claimed batches and receipts. */
export interface Traffic {
  readonly ports: StoredPorts
  account(): Promise<AccountId>
  /** Accepts a text; returns the ids of its messages. */
  send(by: AccountId, sent?: Sent): Promise<readonly MessageId[]>
  dispatcher(): Promise<DispatcherId>
  /** Claims a batch, and fails if there is none. */
  claim(dispatcher: DispatcherId, lane?: Lane, messagesMax?: number, markedMax?: number): Promise<ClaimedBatch>
  /** Claims until the lane is empty. */
  claimAll(dispatcher: DispatcherId, lane?: Lane, messagesMax?: number): Promise<readonly ClaimedBatch[]>
  /** Declares the dispatcher dead. */
  fence(dispatcher: DispatcherId): Promise<{ requeued: number; unknown: number }>
  /** Returns the codes in the order of the ids; 'waiting' for messages without one. */
  codes(by: AccountId, ids: readonly MessageId[]): Promise<readonly (number | string)[]>
  balance(of: AccountId): Promise<number>
  /** Asserts that the ledger is exact and that balance + spent = granted for every account. */
  assertMoney(): Promise<void>
}

export const claimOf = (lane: Lane, messagesMax = 1000, markedMax = messagesMax): Wanted => ({
  carrier: testCarrier,
  lane,
  messagesMax,
  markedMax,
  leaseSeconds,
})

export function traffic(ports: StoredPorts): Traffic {
  const costs = new Map<AccountId, Map<MessageId, number>>()
  const { claimedBatches } = ports

  async function claim(dispatcher: DispatcherId, lane: Lane = 'single', messagesMax?: number, markedMax?: number) {
    const batch = await claimedBatches.claim(dispatcher, claimOf(lane, messagesMax, markedMax))
    if (typeof batch === 'string') assert.fail(`no batch: ${batch}`)
    return batch
  }

  async function claimAll(dispatcher: DispatcherId, lane: Lane = 'single', messagesMax?: number) {
    const all: ClaimedBatch[] = []
    for (;;) {
      const batch = await claimedBatches.claim(dispatcher, claimOf(lane, messagesMax))
      if (batch === 'nothing') return all
      if (batch === 'fenced') assert.fail('a live dispatcher was fenced')
      all.push(batch)
    }
  }

  async function balance(of: AccountId): Promise<number> {
    return (await ports.ledger.balance(of)) ?? assert.fail(`account ${of} is not there`)
  }

  async function assertMoney(): Promise<void> {
    await assertLedger(ports)
    assert.deepEqual(await ports.dailySums.check(gatewayDay(longAgo)), [])
    for (const [account, charged] of costs) {
      const statuses = await statusesOf(ports, account, [...charged.keys()])
      const paid = [...charged.values()].map((cost, i) => {
        const status = statuses[i]
        if (status === undefined || status === 'not-found') assert.fail('an accepted message is not found')
        if (status.code === 'waiting') assert.equal(status.cost, cost, 'what a waiting message cost')
        return status.cost
      })
      const spent = paid.reduce((sum, cost) => sum + cost, 0)
      assert.equal((await balance(account)) + spent, granted, `balance and spent of account ${account}`)
    }
  }

  return {
    ports,
    claim,
    claimAll,
    balance,
    assertMoney,
    account: async () => {
      const { id } = await anAccount(ports, { credits: granted })
      costs.set(id, new Map())
      return id
    },
    send: async (by, { to = 1, numbers: these = numbers(to), costs: each = [10], due, text, ...more } = {}) => {
      const order = {
        ...{ to: these, costs: each },
        ...(due && { due }),
        ...(text !== undefined && { text }),
        ...more,
      }
      const { ids } = await accepted(ports, anOrder(by, order))
      assert.equal(ids.length, these.length)
      for (const [i, id] of ids.entries()) costs.get(by)?.set(id, each[i] ?? each.at(-1) ?? 0)
      return ids
    },
    dispatcher: () => claimedBatches.register(leaseSeconds),
    fence: async (dispatcher) => {
      assert.equal(await claimedBatches.extend(dispatcher, noLease), 'alive')
      return claimedBatches.recover()
    },
    codes: (by, ids) => codesOf(ports, by, ids),
  }
}

type Promises = Readonly<Record<string, (traffic: Traffic) => Promise<void>>>

/** Runs each check with its own traffic, and then checks the money. */
export const withTraffic = (promises: Promises): Contract<StoredPorts> =>
  Object.fromEntries(
    Object.entries(promises).map(([promise, check]) => [
      promise,
      async (ports: StoredPorts) => {
        const checked = traffic(ports)
        await check(checked)
        await checked.assertMoney()
      },
    ]),
  )

export const acceptedAs = (reference: string): Handover => ({ outcome: 'accepted', reference })
export const referenceOf = ({ id }: { readonly id: MessageId }): string => `ref-${id}`

/** Returns an accepted outcome for each of these messages, by default for all messages of the batch. */
export const allAccepted = (batch: ClaimedBatch, messages: readonly ClaimedMessage[] = batch.messages): Recorded[] =>
  messages.map((message) => ({ batch: batch.id, message, handover: acceptedAs(referenceOf(message)) }))

/** Returns this outcome for each of these messages, by default for all messages of the batch. */
export const all = (
  outcome: 'refused' | 'unknown',
  batch: ClaimedBatch,
  messages: readonly ClaimedMessage[] = batch.messages,
): Recorded[] => messages.map((message) => ({ batch: batch.id, message, handover: { outcome } }))

export const idsOf = (batches: readonly ClaimedBatch[]): MessageId[] =>
  batches.flatMap(({ messages }) => messages.map(({ id }) => id))

export const ascending = (ids: readonly MessageId[]): MessageId[] => [...ids].sort((a, b) => a - b)

/** Returns an array that contains the value `count` times. */
export const times = <T>(count: number, value: T): readonly T[] => Array.from({ length: count }, () => value)

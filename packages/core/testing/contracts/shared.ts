import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import type { Credits } from '@gateway/core/credits'
import { carrierId, type CarrierId, type ClaimedMessage, type Handover, type Lane } from '@gateway/core/dispatch'
import type { MessageId, Order } from '@gateway/core/messages'
import { instant, type Instant } from '@gateway/core/time'
import { assert as assertProperty, asyncProperty, type Arbitrary } from 'fast-check'
import { casesOf, sharedSeed } from '../chance.ts'

/**
 * Promises of a port, each under the sentence that states it. A check gets a new, empty subject and throws
 * (`node:assert`) if the promise is broken. Every adapter of the port must pass every check.
 */
export type Contract<Subject> = Readonly<Record<string, (subject: Subject) => Promise<void>>>

/** Combines contracts. Throws if two checks have the same name, because one of them would not run. */
export function combined<Subject>(...contracts: readonly Contract<Subject>[]): Contract<Subject> {
  const names = contracts.flatMap((contract) => Object.keys(contract))
  const repeated = names.find((name, at) => names.indexOf(name) !== at)
  assert.equal(repeated, undefined, `two checks are named: ${repeated}`)
  return Object.assign({}, ...contracts) as Contract<Subject>
}

/**
 * Checks generated cases one after the other, with the seed of `testChance`, at most
 * `casesMax` (`casesOf`). Stops at the first failure instead of shrinking the case, because the cases share the ports.
 */
export const checkGenerated = <Case>(
  cases: Arbitrary<Case>,
  casesMax: number,
  check: (one: Case) => Promise<void>,
): Promise<void> =>
  assertProperty(asyncProperty(cases, check), {
    seed: sharedSeed(),
    numRuns: casesOf(casesMax),
    endOnFailure: true,
  })

// The store's clock cannot be read, so these times are far enough away to be past and future by any clock.
export const longAgo: Instant = instant(Date.UTC(2001, 0, 1))
export const farAhead: Instant = instant(Date.UTC(2201, 0, 1))

/** Number of concurrent calls in a race. */
export const concurrentCallers = 64

export async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

/** Asserts that the ledger is consistent and, if `balances` is present, that all balances add up to it (in tenths). */
export async function assertLedger({ ledger }: Pick<StoredPorts, 'ledger'>, balances?: number): Promise<void> {
  const check = await ledger.check()
  assert.deepEqual(check.differences, [])
  if (balances !== undefined) assert.equal(check.balances, balances)
}

/** Accepts an order, or fails the test. Returns one result per recipient over all texts, and the balance afterwards. */
export async function accepted({ messages }: Pick<StoredPorts, 'messages'>, order: Order) {
  const acceptance = await messages.accept(order)
  if (typeof acceptance === 'string') assert.fail(`the order was refused: ${acceptance}`)
  const results = acceptance.results.flat()
  return { results, ids: results.filter((result) => result !== 'insufficient-credits'), balance: acceptance.balance }
}

export const testCarrier: CarrierId = carrierId('contract') ?? assert.fail('carrierId refused a name')

/** Claims all due messages of the lane as one dispatcher and records them as accepted by a carrier. */
export async function dispatchDue(
  { claimedBatches }: Pick<StoredPorts, 'claimedBatches'>,
  lane: Lane,
  handover: (message: ClaimedMessage) => Handover,
): Promise<readonly ClaimedMessage[]> {
  const claimRequest = { carrier: testCarrier, lane, messagesMax: 1000, markedMax: 1000, leaseSeconds: 600 }
  const dispatcher = await claimedBatches.register(600)
  const all: ClaimedMessage[] = []
  for (;;) {
    const batch = await claimedBatches.claim(dispatcher, claimRequest)
    if (batch === 'fenced') assert.fail('a live dispatcher was fenced')
    if (batch === 'nothing') break
    assert.equal(await claimedBatches.mark(dispatcher, batch.id, batch.messages.length), 'marked')
    const outcomes = batch.messages.map((message) => ({
      batch: batch.id,
      message,
      handover: handover(message),
    }))
    await claimedBatches.record(dispatcher, outcomes)
    all.push(...batch.messages)
  }
  await claimedBatches.retire(dispatcher)
  return all
}

/** Returns the statuses of these ids for this account, whatever their age. */
export const statusesOf = ({ messages }: Pick<StoredPorts, 'messages'>, by: AccountId, ids: readonly MessageId[]) =>
  messages.status(by, ids, longAgo)

/** Returns the code of each status, or 'waiting' or 'not-found' if the message has no code. */
export const codesOf = async (...args: Parameters<typeof statusesOf>): Promise<readonly (number | string)[]> =>
  (await statusesOf(...args)).map((status) => (typeof status === 'string' ? status : status.code))

export const inTenths = (amounts: readonly Credits[]): readonly number[] => [...amounts].sort((a, b) => a - b)

/** Returns the item at this index, or fails the test. */
export const at = <T>(items: readonly T[], index: number): T => items[index] ?? assert.fail(`nothing at ${index}`)

import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import type { Credits } from '@gateway/core/credits'
import { carrierId, type CarrierId, type ClaimedMessage, type Handover, type Lane } from '@gateway/core/dispatch'
import type { MessageId, Order } from '@gateway/core/messages'
import { instant, type Instant } from '@gateway/core/time'
import { assert as assertProperty, asyncProperty, type Arbitrary } from 'fast-check'
import { sharedSeed } from '../chance.ts'

/**
 * The promises of a port, each under the sentence that states it. A check gets a subject of its own, new and empty, and
 * throws (`node:assert`) where the promise is broken. Whoever writes another adapter runs every check against it.
 */
export type Contract<Subject> = Readonly<Record<string, (subject: Subject) => Promise<void>>>

/**
 * Checks so many generated cases one after the other, seeded as `testChance`, and ends at the first that fails: they
 * share what they are checked on.
 */
export const checkGenerated = <Case>(
  cases: Arbitrary<Case>,
  casesMax: number,
  check: (one: Case) => Promise<void>,
): Promise<void> =>
  assertProperty(asyncProperty(cases, check), { seed: sharedSeed(), numRuns: casesMax, endOnFailure: true })

// What several contracts need. No clock can be asked for the store's time: these moments are past and future by any.
export const longAgo: Instant = instant(Date.UTC(2001, 0, 1))
export const farAhead: Instant = instant(Date.UTC(2201, 0, 1))

/** The parallel calls of a race. */
export const callersMany = 64

export async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

/** The ledger is right, and all balances together are `balances` (in tenths) if that is given. */
export async function assertLedger({ ledger }: Pick<StoredPorts, 'ledger'>, balances?: number): Promise<void> {
  const check = await ledger.check()
  assert.deepEqual(check.differences, [])
  if (balances !== undefined) assert.equal(check.balances, balances)
}

/** An order that is accepted or the test ends: one result per recipient over all texts, and the balance after it. */
export async function accepted({ messages }: Pick<StoredPorts, 'messages'>, order: Order) {
  const acceptance = await messages.accept(order)
  if (typeof acceptance === 'string') assert.fail(`the order was refused: ${acceptance}`)
  const results = acceptance.results.flat()
  return { results, ids: results.filter((result) => result !== 'insufficient-credits'), balance: acceptance.balance }
}

export const testCarrier: CarrierId = carrierId('contract') ?? assert.fail('carrierId refused a name')

/** Everything that is due in this lane, as one dispatcher claims it and a carrier takes it. */
export async function dispatchDue(
  { claimedBatches }: Pick<StoredPorts, 'claimedBatches'>,
  lane: Lane,
  handover: (message: ClaimedMessage) => Handover,
): Promise<readonly ClaimedMessage[]> {
  const wanted = { carrier: testCarrier, lane, messagesMax: 1000, markedMax: 1000, leaseSeconds: 600 }
  const dispatcher = await claimedBatches.register(600)
  const all: ClaimedMessage[] = []
  for (;;) {
    const batch = await claimedBatches.claim(dispatcher, wanted)
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

/** The statuses of these ids to this account, of whatever age. */
export const statusesOf = ({ messages }: Pick<StoredPorts, 'messages'>, by: AccountId, ids: readonly MessageId[]) =>
  messages.status(by, ids, longAgo)

/** Their codes; 'waiting' and 'not-found' where there is none. */
export const codesOf = async (...asked: Parameters<typeof statusesOf>): Promise<readonly (number | string)[]> =>
  (await statusesOf(...asked)).map((status) => (typeof status === 'string' ? status : status.code))

export const inTenths = (amounts: readonly Credits[]): readonly number[] => [...amounts].sort((a, b) => a - b)

/** The item at this index, or the test ends. */
export const at = <T>(items: readonly T[], index: number): T => items[index] ?? assert.fail(`nothing at ${index}`)

import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { Account } from '@gateway/core/accounts'
import {
  wrapCarrier,
  type Carrier,
  type ClaimedBatches,
  type DeliveryReceipts,
  type DispatcherId,
  type SubmissionAnswer,
} from '@gateway/core/dispatch'
import type { Inbox } from '@gateway/core/inbox'
import { isFinal, isAcceptedByCarrier, type MessageId, type MessageStatus, type Msisdn } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import { anAccount, anOrder, numbers } from './builders.ts'
import { steppingClock, type SteppingClock } from './memory/clock.ts'
import { memoryStoredPorts } from './memory/ports.ts'
import { mayHaveLeft } from './memory/release.ts'
import { memoryStore, type MemoryStore } from './memory/store.ts'

/** Names of the store calls of a dispatcher that can be disturbed. */
export type Call = keyof ClaimedBatches | 'apply' | 'receive'

/** Fault of a call: the call fails before or after doing its work, or a function runs before the call. */
export type Disturbance = 'fails' | 'fails after its work' | (() => Promise<unknown>)

/** Returns the fault of the nth call (from 1) of this name; undefined for none. */
export type Disturb = (call: Call, nth: number) => Disturbance | undefined

/** Memory store with one account. Records violations by the dispatchers that a test runs on it. */
export interface DispatchWorld {
  readonly clock: SteppingClock
  readonly store: MemoryStore
  readonly ports: StoredPorts
  readonly account: Account
  /** Violations found so far. */
  readonly violations: string[]
  /**
   * Sends one text to `count` numbers with this ending, and returns the message ids. Up to ten messages use the single
   * lane.
   */
  accept(count: number, ending?: string): Promise<readonly MessageId[]>
  /** Sends one text to one number; returns its id. */
  acceptOne(): Promise<MessageId>
  /**
   * Wraps the ports for a dispatcher. After every call the wrapper checks that each epoch of the dispatcher keeps to
   * the in-doubt limit.
   */
  disturbed(
    disturb: Disturb,
    inDoubtMax: number,
  ): Pick<StoredPorts, 'claimedBatches' | 'deliveryReceipts' | 'inbox'> & {
    cut(): void
  }
  /** Wraps a carrier to check that only marked messages that were never accepted are submitted. */
  watched(carrier: Carrier): Carrier
  status(ids: readonly MessageId[]): Promise<readonly MessageStatus[]>
  /** Returns the number of messages that are marked but not recorded in committed data. */
  inDoubt(dispatcher: DispatcherId): number
  /** Returns the number of messages that have no outcome yet. */
  waiting(): number
  /** Throws if the ledger does not balance, or if a claimed batch was left behind. */
  assertTidy(): Promise<void>
}

export async function dispatchWorld(): Promise<DispatchWorld> {
  const clock = steppingClock()
  const store = memoryStore(clock)
  const ports = memoryStoredPorts(store)
  const account = await anAccount(ports, { credits: 1_000_000 })
  const violations: string[] = []
  let used = 0
  /** The epoch that claimed each message last, and the epochs that were notified of their death. */
  const claimedBy = new Map<MessageId, DispatcherId>()
  const notified = new Set<DispatcherId>()
  /** Messages that a carrier may have: submitted, and not temporarily refused. */
  const handed = new Set<MessageId>()

  const newNumbers = (count: number, ending: string): readonly Msisdn[] =>
    numbers((used += count), ending).slice(used - count)

  const inDoubt = (dispatcher: DispatcherId): number =>
    [...(store.dispatchers.get(dispatcher)?.batches.values() ?? [])].flatMap((batch) =>
      [...batch.messages.values()].filter((one) => mayHaveLeft(one, batch)),
    ).length

  function checkMayLeave(id: MessageId): void {
    if (handed.has(id)) violations.push(`message ${id} is submitted twice`)
    const epoch = claimedBy.get(id)
    if (epoch === undefined || notified.has(epoch)) violations.push(`message ${id} is submitted by a dead dispatcher`)
    const batchRows = [...store.dispatchers.values()]
      .flatMap(({ batches }) => [...batches.values()])
      .find((batch) => batch.messages.has(id))
    const row = store.messages.get(id)
    // A dispatcher that was declared dead without knowing it may submit marked messages, which are 106 by then.
    const isUnknown = row?.decision?.code === 106
    const one = batchRows?.messages.get(id)
    const isMarked = batchRows !== undefined && one !== undefined && mayHaveLeft(one, batchRows)
    if (!isMarked && !isUnknown) violations.push(`message ${id} is submitted without a committed mark`)
  }

  async function accept(count: number, ending = '00'): Promise<readonly MessageId[]> {
    const accepted = await ports.messages.accept(anOrder(account.id, { to: newNumbers(count, ending) }))
    assert.ok(typeof accepted === 'object')
    return accepted.results.flat().map((id) => (typeof id === 'number' ? id : assert.fail(id)))
  }

  return {
    clock,
    store,
    ports,
    account,
    violations,
    accept,
    acceptOne: async () => (await accept(1))[0] ?? assert.fail('nothing was accepted'),
    disturbed(disturb, inDoubtMax) {
      const epochs = new Set<DispatcherId>()
      const counts = new Map<Call, number>()
      let cut = false
      const isCut = (): boolean => cut
      const call = async <R>(name: Call, work: () => Promise<R>, epoch?: DispatcherId): Promise<R> => {
        const nth = (counts.get(name) ?? 0) + 1
        counts.set(name, nth)
        const disturbance = disturb(name, nth)
        if (isCut() || disturbance === 'fails') throw new Error(`${name} ${nth} fails`)
        if (typeof disturbance === 'function') await disturbance()
        const result = await work()
        const most = [...epochs].reduce((sum, epoch) => sum + inDoubt(epoch), 0)
        if (most > inDoubtMax) violations.push(`${most} messages are in doubt after ${name} ${nth}`)
        if (isCut() || disturbance === 'fails after its work') throw new Error(`${name} ${nth} fails after its work`)
        // A dispatcher whose call failed has not learned that it was declared dead.
        if (result === 'fenced' && epoch !== undefined) setImmediate(() => notified.add(epoch))
        return result
      }
      const { claimedBatches, deliveryReceipts, inbox } = ports
      const watchedClaimedBatches: ClaimedBatches = {
        register: (lease, version) =>
          call('register', async () => {
            const id = await claimedBatches.register(lease, version)
            epochs.add(id)
            return id
          }),
        extend: (...args) => call('extend', () => claimedBatches.extend(...args), args[0]),
        retire: (...args) => call('retire', () => claimedBatches.retire(...args), args[0]),
        promote: (...args) => call('promote', () => claimedBatches.promote(...args)),
        claim: (...args) =>
          call(
            'claim',
            async () => {
              const batch = await claimedBatches.claim(...args)
              if (typeof batch === 'object') for (const { id } of batch.messages) claimedBy.set(id, args[0])
              return batch
            },
            args[0],
          ),
        disown: (...args) => call('disown', () => claimedBatches.disown(...args), args[0]),
        mark: (...args) => call('mark', () => claimedBatches.mark(...args), args[0]),
        record: (...args) => call('record', () => claimedBatches.record(...args), args[0]),
        takeRepeatable: (...args) => call('takeRepeatable', () => claimedBatches.takeRepeatable(...args)),
        settle: (...args) => call('settle', () => claimedBatches.settle(...args), args[0]),
        postpone: (...args) => call('postpone', () => claimedBatches.postpone(...args), args[0]),
        giveBack: (...args) => call('giveBack', () => claimedBatches.giveBack(...args), args[0]),
        queuesWithWork: (...args) => call('queuesWithWork', () => claimedBatches.queuesWithWork(...args)),
        recover: () => call('recover', () => claimedBatches.recover()),
        expire: (...args) => call('expire', () => claimedBatches.expire(...args)),
        sleeper: (wake) => claimedBatches.sleeper(wake),
      }
      const watchedDeliveryReceipts: DeliveryReceipts = {
        ...deliveryReceipts,
        apply: (batch) => call('apply', () => deliveryReceipts.apply(batch)),
      }
      const watchedInbox: Inbox = {
        ...inbox,
        receive: (...args) => call('receive', () => inbox.receive(...args)),
      }
      return {
        claimedBatches: watchedClaimedBatches,
        deliveryReceipts: watchedDeliveryReceipts,
        inbox: watchedInbox,
        cut: () => void (cut = true),
      }
    },
    watched(carrier) {
      const submit: Carrier['submit'] = (messages, answered) => {
        for (const { id } of messages) {
          checkMayLeave(id)
          handed.add(id)
        }
        carrier.submit(messages, (answers: readonly SubmissionAnswer[]) => {
          for (const { id, outcome } of answers) if (outcome === 'refused-for-now') handed.delete(id)
          answered(answers)
        })
      }
      return wrapCarrier(carrier, { submit })
    },
    status: (ids) => ports.messages.status(account.id, ids, instant(0)),
    inDoubt,
    waiting: () => [...store.messages.values()].filter(({ decision }) => decision === undefined).length,
    async assertTidy() {
      const { differences } = await ports.ledger.check()
      assert.deepEqual(differences, [])
      for (const { decision, cost } of store.messages.values()) {
        assert.ok(decision !== undefined && cost > 0)
        const isFree = isFinal(decision.code) && [101, 111, 202, 212, 214].includes(decision.code)
        const isCharged = isAcceptedByCarrier({ code: decision.code, hasReference: decision.reference !== undefined })
        if (!isCharged) assert.ok(isFree, `${decision.code} was refunded`)
      }
      for (const [id, { batches }] of store.dispatchers) {
        for (const { messages } of batches.values()) assert.equal(messages.size, 0, `messages left in a batch of ${id}`)
      }
    },
  }
}

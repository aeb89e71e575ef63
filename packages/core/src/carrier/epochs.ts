import type { Ports } from '../ports.ts'
import type { DispatcherSettings } from './dispatcher-settings.ts'
import type { DispatcherId, ClaimedBatchId } from './claimed-batches.ts'

/** The epoch under which a dispatcher acts, and what its failed claims may have taken. */
export interface Epochs {
  /** The one to claim under, a new one if there is none; all who ask at the same time share one registration. */
  current(): Promise<DispatcherId>
  /** A claim failed that may have been committed all the same, with so many messages marked. */
  doubt(dispatcher: DispatcherId, markedMax: number): void
  /** Whether such a claim has not been given back yet: nothing more is claimed until then. */
  isDoubtful(): boolean
  /** So many messages may be marked by claims of which nobody knows. */
  inDoubt(): number
  /**
   * Gives back what failed claims took: all of the epoch but the known claimed batches. No claim may be under way. It needs no answer of a carrier,
   * so that a failed claim holds up nothing for longer than the store does.
   */
  settle(known: readonly ClaimedBatchId[]): Promise<void>
  /** It was declared dead: others have taken over what it held. */
  lose(dispatcher: DispatcherId): void
  isOurs(dispatcher: DispatcherId): boolean
  /** Renews the lease; false: there is none. */
  beat(): Promise<boolean>
  /** Ends the epoch in good order. */
  retire(known: readonly ClaimedBatchId[]): Promise<void>
}

export function createEpochs(
  { claimedBatches }: Pick<Ports, 'claimedBatches'>,
  { leaseSeconds, version }: Pick<DispatcherSettings, 'leaseSeconds' | 'version'>,
  fenced: (dispatcher: DispatcherId) => void,
): Epochs {
  let current: DispatcherId | undefined
  let registering: Promise<DispatcherId> | undefined
  /** Failed claims since the last settlement, and what they may have marked. */
  let failed = 0
  let marked = 0

  function forgive(): void {
    failed = 0
    marked = 0
  }

  function lose(dispatcher: DispatcherId): void {
    if (current !== dispatcher) return
    current = undefined
    forgive()
  }

  async function settle(known: readonly ClaimedBatchId[]): Promise<void> {
    const dispatcher = current
    if (dispatcher === undefined || failed === 0) return
    await claimedBatches.disown(dispatcher, known)
    if (current === dispatcher) forgive()
  }

  return {
    current() {
      if (current !== undefined) return Promise.resolve(current)
      registering ??= claimedBatches
        .register(leaseSeconds, version)
        .then((registered) => (current = registered))
        .finally(() => (registering = undefined))
      return registering
    },
    doubt(dispatcher, markedMax) {
      // It may have been declared dead meanwhile: then there is nothing left to give back.
      if (current !== dispatcher) return
      failed++
      marked += markedMax
    },
    isDoubtful: () => failed > 0,
    inDoubt: () => marked,
    settle,
    lose,
    isOurs: (dispatcher) => current === dispatcher,
    async beat() {
      const dispatcher = current
      if (dispatcher === undefined) return false
      if ((await claimedBatches.extend(dispatcher, leaseSeconds)) === 'fenced') fenced(dispatcher)
      return true
    },
    async retire(known) {
      await settle(known)
      if (current === undefined) return
      const dispatcher = current
      await claimedBatches.retire(dispatcher)
      lose(dispatcher)
    },
  }
}

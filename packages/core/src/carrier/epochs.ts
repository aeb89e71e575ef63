import type { Ports } from '../ports.ts'
import type { DispatcherSettings } from './dispatcher-settings.ts'
import type { DispatcherId, ClaimedBatchId } from './claimed-batches.ts'

/** The epoch under which a dispatcher acts. */
export interface Epochs {
  /** The one to claim under, a new one if there is none; all who ask at the same time share one registration. */
  current(): Promise<DispatcherId>
  /**
   * Gives back what failed claims took: all of the epoch but the known batches; false: the epoch is over. No claim may
   * be under way.
   */
  disown(known: readonly ClaimedBatchId[]): Promise<boolean>
  /** It was declared dead: others have taken over what it held. False: it was not the current one. */
  lose(dispatcher: DispatcherId): boolean
  isOurs(dispatcher: DispatcherId): boolean
  /** Renews the lease; 'none': there is none. */
  extend(): Promise<'alive' | 'none' | { readonly fenced: DispatcherId }>
  /** Ends the epoch in good order. */
  retire(): Promise<void>
}

export function createEpochs(
  { claimedBatches }: Pick<Ports, 'claimedBatches'>,
  { leaseSeconds, version, place }: Pick<DispatcherSettings, 'leaseSeconds' | 'version' | 'place'>,
): Epochs {
  let current: DispatcherId | undefined
  let registering: Promise<DispatcherId> | undefined

  function lose(dispatcher: DispatcherId): boolean {
    if (current !== dispatcher) return false
    current = undefined
    return true
  }

  return {
    current() {
      if (current !== undefined) return Promise.resolve(current)
      registering ??= claimedBatches
        .register(leaseSeconds, version, place)
        .then((registered) => (current = registered))
        .finally(() => (registering = undefined))
      return registering
    },
    async disown(known) {
      const dispatcher = current
      if (dispatcher === undefined) return false
      await claimedBatches.disown(dispatcher, known)
      return current === dispatcher
    },
    lose,
    isOurs: (dispatcher) => current === dispatcher,
    async extend() {
      const dispatcher = current
      if (dispatcher === undefined) return 'none'
      const answer = await claimedBatches.extend(dispatcher, leaseSeconds)
      return answer === 'fenced' ? { fenced: dispatcher } : answer
    },
    async retire() {
      const dispatcher = current
      if (dispatcher === undefined) return
      await claimedBatches.retire(dispatcher)
      lose(dispatcher)
    },
  }
}

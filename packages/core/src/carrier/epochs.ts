import type { Ports } from '../ports.ts'
import type { DispatcherSettings } from './dispatcher-settings.ts'
import type { DispatcherId } from './flights.ts'

/** The epochs under which a dispatcher acts: one, and for a while those of which a claim failed. */
export interface Epochs {
  /** The one to claim under, a new one if there is none; all who ask at the same time share one registration. */
  current(): Promise<DispatcherId>
  /**
   * A claim failed that may have been committed all the same. Nothing more is claimed under this epoch, and once nothing else of it is in
   * the air it is retired, which gives back what nobody knows of.
   */
  doubt(dispatcher: DispatcherId, markedMax: number): void
  /** It was declared dead: others have taken over what it held. */
  lose(dispatcher: DispatcherId): void
  isOurs(dispatcher: DispatcherId): boolean
  hasDoubtful(): boolean
  /** So many messages may be marked by claims of which nobody knows. */
  inDoubt(): number
  /** Renews every lease. */
  beat(): Promise<void>
  /** Retires the doubtful ones that are not in use; rejects if one could not be. */
  retireDoubtful(isInUse: (dispatcher: DispatcherId) => boolean): Promise<void>
  retireAll(): Promise<void>
}

export function createEpochs(
  { flights }: Pick<Ports, 'flights'>,
  { leaseSeconds, version }: Pick<DispatcherSettings, 'leaseSeconds' | 'version'>,
  fenced: (dispatcher: DispatcherId) => void,
): Epochs {
  let current: DispatcherId | undefined
  let registering: Promise<DispatcherId> | undefined
  const doubtful = new Map<DispatcherId, number>()

  const all = (): readonly DispatcherId[] => [...(current === undefined ? [] : [current]), ...doubtful.keys()]

  function lose(dispatcher: DispatcherId): void {
    if (current === dispatcher) current = undefined
    doubtful.delete(dispatcher)
  }

  async function extend(dispatcher: DispatcherId): Promise<void> {
    if ((await flights.extend(dispatcher, leaseSeconds)) === 'fenced') fenced(dispatcher)
  }

  async function retire(dispatcher: DispatcherId): Promise<void> {
    await flights.retire(dispatcher)
    lose(dispatcher)
  }

  return {
    current() {
      if (current !== undefined) return Promise.resolve(current)
      registering ??= flights
        .register(leaseSeconds, version)
        .then((registered) => (current = registered))
        .finally(() => (registering = undefined))
      return registering
    },
    doubt(dispatcher, markedMax) {
      // It may have been declared dead meanwhile: then there is nothing left to give back.
      if (!all().includes(dispatcher)) return
      if (current === dispatcher) current = undefined
      doubtful.set(dispatcher, (doubtful.get(dispatcher) ?? 0) + markedMax)
    },
    lose,
    isOurs: (dispatcher) => all().includes(dispatcher),
    hasDoubtful: () => doubtful.size > 0,
    inDoubt: () => [...doubtful.values()].reduce((sum, marked) => sum + marked, 0),
    async beat() {
      await Promise.all(all().map(extend))
    },
    async retireDoubtful(isInUse) {
      await Promise.all([...doubtful.keys()].filter((dispatcher) => !isInUse(dispatcher)).map(retire))
    },
    async retireAll() {
      await Promise.all(all().map(retire))
    },
  }
}

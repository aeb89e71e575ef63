import type { Carrier, CarrierReport, Dispatcher } from '@gateway/core'
import type { HealthSettings, Log } from '@gateway/server'
import { carrierJson } from '@gateway/wire'

interface Reporting {
  reports(): readonly CarrierReport[]
}

/** Health with `/health/carriers`: how each carrier of this process is. */
export const withCarriers = (health: HealthSettings, reporting: Reporting): HealthSettings => ({
  ...health,
  details: { ...health.details, carriers: () => ({ carriers: reporting.reports().map(carrierJson) }) },
})

interface Stalling {
  state(): Readonly<Record<string, Pick<ReturnType<Dispatcher['state']>, 'stalled'>>>
}

/** Readiness that fails while a dispatcher that has something to move does not move it (P-17). */
export const withProgress = ({ checks, ...health }: HealthSettings, dispatching: Stalling): HealthSettings => ({
  ...health,
  checks: { ...checks, progress: () => Promise.resolve(makesProgress(dispatching)) },
})

/** Readiness that fails while a process cannot read the carriers that the others work with. */
export const withAgreement = (
  { checks, ...health }: HealthSettings,
  following: { isUsable(): boolean },
): HealthSettings => ({
  ...health,
  checks: { ...checks, carriers: () => Promise.resolve(following.isUsable()) },
})

export const makesProgress = (dispatching: Stalling): boolean =>
  Object.values(dispatching.state()).every(({ stalled }) => stalled.length === 0)

/** Returns what is to be called now and then: it logs once when a dispatcher stands still, and once when it moves again. */
export function reportStall(dispatcher: Pick<Dispatcher, 'state'>, carrier: Pick<Carrier, 'id'>, log: Log): () => void {
  let wasStalled = false
  return () => {
    const { stalled, ...held } = dispatcher.state()
    const isStalled = stalled.length > 0
    if (isStalled && !wasStalled)
      log.error({ carrier: carrier.id, stalled, ...held }, 'the dispatcher makes no progress')
    if (!isStalled && wasStalled) log.warn({ carrier: carrier.id }, 'the dispatcher makes progress again')
    wasStalled = isStalled
  }
}

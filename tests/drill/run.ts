import type { Figures } from '../faults/figures.ts'
import { runFaults, type FaultRun } from '../faults/run.ts'
import { failover, type Form, type Gap } from './failover.ts'

interface Drill extends Pick<FaultRun, 'seed' | 'root' | 'keepsLogs' | 'log' | 'endsWhenBroken'> {
  readonly form: Form
}

/** Seconds of load for the forms after which clients need longer until they send again. */
const seconds: Partial<Record<Form, number>> = { 'standby first': 28, cut: 16, freeze: 16, asynchronous: 20 }

/**
 * Runs one round: load over all interfaces and SMPP, the loss of a primary, and the checks of the promises after
 * everything has settled.
 */
export async function runDrill({ form, ...how }: Drill): Promise<{ figures: Figures; gap: Gap }> {
  const gap: Gap = {}
  const figures = await runFaults({
    ...how,
    seconds: seconds[form] ?? 12,
    meetsMinute: false,
    recipientsPerSecond: 60,
    carrierPerSecond: 40,
    backlogMax: 400,
    secondsBetweenFaults: 1,
    carrier: 'smpp',
    scene: failover(form, gap),
    logsFaults: true,
  })
  return { figures, gap }
}

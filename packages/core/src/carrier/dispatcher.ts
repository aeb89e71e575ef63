import type { Body } from '../message/body.ts'
import { processingDefaults } from '../processing-settings.ts'
import type { Clock } from '../time/clock.ts'
import type { Carrier } from './carrier.ts'
import { work } from './claim.ts'
import type { Lane } from './claimed-batches.ts'
import { createParts, type DispatcherPorts, type Parts } from './dispatcher-parts.ts'
import { dispatcherDefaults, type DispatcherSettings } from './dispatcher-settings.ts'
import { giveBack, proceed } from './proceed.ts'
import { known, renew, retry } from './retry.ts'
import { createRouteTurns, type RouteTurns } from './route-turns.ts'
import type { Work } from './stall.ts'

/*
 * A message of a claimed batch:
 *
 *   claimed --startMark, attach--> marking --commit--> marked --submit--> unanswered --answer--> outcome waits --commit--> recorded
 *      |                              |                                                                      (or postponed)
 *      +--screened out, expired--> settled           marking, and all from marked to outcome waits: in doubt
 *
 * A claimed batch:
 *
 *   claim under way --answer--> open --all outcomes committed--> closed
 *      |                          +--declared dead--> fenced: submits nothing more --outcomes of what was submitted--> closed
 *      +--failure--> lost: counts as in doubt, and nothing is claimed --disown--> gone
 *
 * Its mark: none --startMark--> committing --commit--> none           none --attach--> attached --commit of the record--> none
 *                                   +--failure--> failed --startMark, the same again--> committing
 */

/** Hands waiting messages to one carrier and stores what becomes of them. It has no timers of its own: its owner calls. */
export interface Dispatcher {
  /**
   * Waits until there is room in the lane, then claims once and sends what may leave. 'nothing': the lane is empty, ask
   * again later. 'closed': it is draining. The two lanes are worked side by side, each by one caller at a time. Rejects if
   * the store fails; call again.
   */
  work(lane: Lane): Promise<'claimed' | 'nothing' | 'closed'>
  /** Renews the lease. To be called at least three times within `leaseSeconds`. */
  beat(): Promise<void>
  /** Tries again what failed (a mark, a record), and looks whether there is progress. To be called several times a second. */
  retry(): void
  /**
   * Claims no more, submits what is marked, waits for its answers and stores them, and gives the rest back to the queue.
   * Once `deadline` has resolved it waits no longer: what is then unanswered is SENT 106.
   */
  drain(deadline: Promise<unknown>): Promise<void>
  /** What it holds at this moment: `inDoubt` never exceeds the setting. */
  state(): {
    readonly ahead: number
    readonly unanswered: number
    readonly inDoubt: number
    readonly uncommitted: number
    /** What makes no progress while the store answers (P-17), as of the last call of `retry`. */
    readonly stalled: readonly Work[]
  }
}

export function createDispatcher(
  ports: DispatcherPorts,
  carrier: Carrier,
  report: (problem: unknown) => void,
  settings: DispatcherSettings = dispatcherDefaults,
  confirmation: Body = processingDefaults.confirmation,
  turns: RouteTurns = withoutRoutes(ports.clock),
): Dispatcher {
  const parts = createParts(ports, carrier, report, settings, confirmation, turns)
  const { inFlight, outcomes, stalls } = parts
  carrier.onAvailability?.(() => {
    giveBack(parts)
    turns.changed()
  })
  return {
    work: (lane) => work(parts, lane),
    beat: () => renew(parts),
    retry: () => retry(parts),
    drain: (deadline) => drain(parts, deadline),
    state: () => ({
      ahead: inFlight.ahead('single') + inFlight.ahead('bulk'),
      unanswered: inFlight.unanswered.size,
      inDoubt: inFlight.inDoubt(),
      uncommitted: outcomes.size(),
      stalled: stalls.stalled(),
    }),
  }
}

/** For one carrier that takes everything. */
const withoutRoutes = (clock: Clock): RouteTurns => createRouteTurns({ list: () => Promise.resolve([]) }, clock)

const isBusy = ({ inFlight, outcomes }: Parts): boolean =>
  inFlight.isClaiming() || inFlight.unanswered.size + outcomes.size() > 0 || inFlight.leaving() > 0

async function drain(parts: Parts, deadline: Promise<unknown>): Promise<void> {
  const { phase, inFlight, changes, report } = parts
  phase.closing = true
  parts.turns.changed()
  let late = false
  const isLate = (): boolean => late
  const passed = deadline.then(() => void (late = true))
  proceed(parts)
  while (!isLate() && isBusy(parts)) await Promise.race([changes.next(), passed])
  phase.ended = true
  inFlight.abandon()
  for (;;) {
    try {
      if (inFlight.hasLostClaims() && (await parts.epochs.disown(known(parts)))) inFlight.forgetLostClaims()
      await parts.epochs.retire()
      parts.leave()
      return
    } catch (problem) {
      if (isLate()) throw problem
      report(problem)
      await Promise.race([changes.next(), passed])
    }
  }
}

import type { AccountPorts, AuditPorts, CreditPorts, SmppCustomerPorts, WebhookPorts } from '../ports.ts'
import type { AuditActor, AuditDetail, AuditedChange, AuditOutcome, AuditValue } from './audit-log.ts'

/** Ports of the states that the audit log records. */
export type StatePorts = AccountPorts & CreditPorts & WebhookPorts & SmppCustomerPorts

/** Entry of the audit log about one change, without the name of the action. */
export interface AuditLine<Result> extends Omit<AuditedChange, 'action'> {
  /** Reads the state that the change affects, before and after it. Values that differ are recorded. */
  readonly state?: ((ports: StatePorts) => Promise<AuditDetail>) | undefined
  /** Returns the recorded outcome. By default a string, number or boolean is recorded unchanged, others as 'done'. */
  readonly outcome?: ((result: Result) => AuditValue) | undefined
}

/** Makes a change between two entries of the audit log. Returns or throws what `work` returns or throws. */
export type MakeChange<Action extends string = string> = <Result>(
  change: AuditLine<Result> & { readonly action: Action },
  work: () => Promise<Result>,
) => Promise<Result>

/**
 * Records the changes of an actor (decision 0098). The first entry is stored before the change is made: if that fails,
 * nothing is changed. If the second one cannot be stored, the promise rejects although the change was made. The state
 * is read before and after the change, in separate calls. If two actors change the same thing at the same time, both
 * entries may therefore show both changes. The outcome `changed` becomes `nothing-changed` if the states are equal.
 */
export const changesBy =
  (ports: StatePorts & AuditPorts, actor: AuditActor): MakeChange =>
  async (change, work) => {
    const { auditLog } = ports
    const { state, outcome, ...begun } = change
    const before = await state?.(ports)
    const sequence = await auditLog.begin(actor, begun)
    const result = await work().catch(async (problem: unknown) => {
      const failure = `failed: ${problem instanceof Error ? problem.message : String(problem)}`
      await auditLog.end(sequence, { outcome: failure }).catch(() => undefined)
      throw problem
    })
    const changed = before && differences(before, (await state?.(ports)) ?? {})
    const recorded = outcome === undefined ? plain(result) : outcome(result)
    const isUnchanged = before !== undefined && changed === undefined && recorded === 'changed'
    await auditLog.end(sequence, { outcome: isUnchanged ? 'nothing-changed' : recorded, changed })
    return result
  }

const plain = (result: unknown): AuditValue =>
  typeof result === 'string' || typeof result === 'number' || typeof result === 'boolean' ? result : 'done'

function differences(before: AuditDetail, after: AuditDetail): AuditOutcome['changed'] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  if (changed.length === 0) return undefined
  return Object.fromEntries(changed.map((name) => [name, [before[name] ?? null, after[name] ?? null]]))
}

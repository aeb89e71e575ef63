import { NothingDoneError } from '../nothing-done.ts'
import type { Ports } from '../ports.ts'
import type { SealedSecret } from './secret-box.ts'

/** What is stored was sealed with keys that this process does not have: what it seals would be opened by no other. Nothing was done. */
export class OtherKeyError extends NothingDoneError {}

export interface KeySettings {
  /** The key of what is stored was lost: a secret is stored with another one. */
  readonly despiteKey?: boolean | undefined
}

/**
 * Throws an `OtherKeyError`, with what to do, if of the secrets that were stored last, an endpoint's and those of the carriers, none can be opened
 * here. Where nothing is stored any key will do.
 */
export async function requireKeyInUse({
  webhooks,
  carrierVersions,
  secretBox,
}: Pick<Ports, 'webhooks' | 'carrierVersions' | 'secretBox'>): Promise<void> {
  const secret = await webhooks.lastSecret()
  const problem = secret && problemOf(secret, secretBox)
  if (secret !== undefined && problem === undefined) return
  const sealed = (await carrierVersions.latest())?.sealed
  const other = sealed && problemOf(sealed, secretBox)
  if (sealed !== undefined && other === undefined) return
  const first = problem ?? other
  if (first !== undefined) throw new OtherKeyError(first.message, { cause: first })
}

function problemOf(sealed: SealedSecret, secretBox: Ports['secretBox']): Error | undefined {
  try {
    secretBox.open(sealed)
    return undefined
  } catch (problem) {
    return problem instanceof Error ? problem : new Error(String(problem))
  }
}

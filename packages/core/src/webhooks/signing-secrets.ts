import type { AccountId } from '../accounts/account.ts'
import { NothingDoneError } from '../nothing-done.ts'
import type { Ports } from '../ports.ts'
import { secondsAfter, type Instant } from '../time/instant.ts'
import { UnusableKeyError, type SealedSecret } from './secret-box.ts'
import type { SigningSecrets, Webhook, WebhookId } from './webhook.ts'

/** An endpoint with its signing secret in clear: shown once, stored encrypted. */
export interface WebhookWithSecret {
  readonly webhook: Webhook
  readonly secret: string
}

/**
 * What is stored was sealed with keys that this process does not have: what it seals would be opened by no other.
 * Nothing was done.
 */
export class OtherKeyError extends NothingDoneError {}

export interface KeySettings {
  /** The key of what is stored was lost: a secret is stored with another one. */
  readonly despiteKey?: boolean | undefined
}

/**
 * Throws an `OtherKeyError`, with what to do, if of the secrets that were stored last, an endpoint's and those of the
 * carriers, none can be opened here. Where nothing is stored any key will do.
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
    if (problem instanceof UnusableKeyError) throw problem
    return problem instanceof Error ? problem : new Error(String(problem))
  }
}

/** For so many hours the secret before signs beside the new one, unless it is said otherwise. */
export const overlapHoursDefault = 24

/** A week. */
export const overlapHoursMax = 168

/** So many secrets of an endpoint sign at a time: one more ends the oldest. */
export const secretsMax = 5

/**
 * Gives an endpoint another signing secret. `overlapHours`: a whole number from 0, for which the one before signs
 * beside it. Secrets before that sign until the end of their own overlap; with 0 none before signs any more. Throws an
 * `OtherKeyError` where what is stored has another key, unless `despiteKey`.
 */
export const rotateSecret =
  (ports: Pick<Ports, 'webhooks' | 'carrierVersions' | 'secretBox' | 'clock'>) =>
  async (
    by: AccountId | undefined,
    id: WebhookId,
    overlapHours: number = overlapHoursDefault,
    { despiteKey = false }: KeySettings = {},
  ): Promise<WebhookWithSecret | 'no-such-webhook' | 'overlap-out-of-range'> => {
    if ((await ports.webhooks.find(by, id)) === undefined) return 'no-such-webhook'
    const isInRange = Number.isInteger(overlapHours) && overlapHours >= 0 && overlapHours <= overlapHoursMax
    if (!isInRange) return 'overlap-out-of-range'
    if (!despiteKey) await requireKeyInUse(ports)
    const secret = ports.secretBox.newSigningSecret()
    const [sealed, now] = [ports.secretBox.seal(secret), ports.clock.now()]
    const webhook = await ports.webhooks.rotate(by, id, (before) => followedBy(before, sealed, overlapHours, now))
    return webhook === undefined ? 'no-such-webhook' : { webhook, secret }
  }

function followedBy(before: SigningSecrets, next: SealedSecret, overlapHours: number, now: Instant): SigningSecrets {
  if (overlapHours === 0) return { secret: next, previous: [] }
  const last = { secret: before.secret, until: secondsAfter(now, overlapHours * 3600) }
  const valid = before.previous.filter(({ until }) => now < until)
  return { secret: next, previous: [last, ...valid].slice(0, secretsMax - 1) }
}

/** Until when a secret before the current one signs, or did so last; undefined: there is none. */
export const previousUntil = ({ previous }: SigningSecrets): Instant | undefined =>
  previous.toSorted((a, b) => b.until - a.until)[0]?.until

export interface Resealed {
  /** Endpoints. */
  readonly webhooks: number
  readonly carrierVersions: number
  readonly secondFactors: number
}

/**
 * Seals what was sealed with an older key with the current one; afterwards the older one opens nothing any more, but
 * versions of the carriers before the last one that no key of this process opens, which stay as they are. Returns how
 * many it did so for. Throws, with nothing done, if one of the others was sealed with a key that this process does not
 * have.
 */
export const resealSecrets =
  ({
    webhooks,
    carrierVersions,
    secondFactors,
    secretBox,
  }: Pick<Ports, 'webhooks' | 'carrierVersions' | 'secondFactors' | 'secretBox'>) =>
  async (): Promise<Resealed> => {
    const sealAgain = (sealed: SealedSecret): SealedSecret =>
      secretBox.isOld(sealed) ? secretBox.seal(secretBox.open(sealed)) : sealed
    const latest = await carrierVersions.latest()
    if (latest !== undefined) secretBox.open(latest.sealed)
    return {
      webhooks: await webhooks.resealSecrets(sealAgain),
      secondFactors: await secondFactors.resealSecrets(sealAgain),
      carrierVersions: await carrierVersions.reseal(({ version, sealed }) => {
        try {
          return sealAgain(sealed)
        } catch (problem) {
          if (version === latest?.version) throw problem
          return undefined
        }
      }),
    }
  }

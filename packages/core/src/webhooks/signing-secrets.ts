import type { AccountId } from '../accounts/account.ts'
import { NothingDoneError } from '../nothing-done.ts'
import type { Ports } from '../ports.ts'
import { secondsAfter, type Instant } from '../time/instant.ts'
import { UnusableKeyError, type SealedSecret } from './secret-box.ts'
import type { SigningSecrets, Webhook, WebhookId } from './webhook.ts'

/** Endpoint with its signing secret in clear text. The secret is shown once and stored encrypted. */
export interface WebhookWithSecret {
  readonly webhook: Webhook
  readonly secret: string
}

/**
 * Thrown if this process cannot decrypt the stored secrets with its keys. Other processes could then not decrypt
 * secrets that it encrypts. Nothing was done.
 */
export class OtherKeyError extends NothingDoneError {}

export interface KeySettings {
  /** True if the key of the stored secrets was lost. A new secret may then be encrypted with another key. */
  readonly despiteKey?: boolean | undefined
}

/**
 * Throws an `OtherKeyError` if this process can decrypt neither the latest secret of an endpoint nor the latest version
 * of the carriers. Its message says what to do. If nothing is stored, any key is accepted.
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

/** Default of the hours for which the previous secret still signs alongside the new one. */
export const overlapHoursDefault = 24

/** Maximum hours for which a previous secret also signs: one week. */
export const overlapHoursMax = 168

/** Maximum number of secrets of an endpoint that sign at a time. A further one ends the oldest. */
export const secretsMax = 5

/**
 * Replaces the signing secret of an endpoint. The previous secret still signs for `overlapHours`, an integer from 0.
 * Older secrets sign until the end of their own overlap. If `overlapHours` is 0, all previous secrets end at once.
 * Throws an `OtherKeyError` if stored secrets were encrypted with another key, unless `despiteKey`.
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

/**
 * Returns the time at which the last of the previous secrets stops signing, which may be in the past. Returns undefined
 * if there is no previous secret.
 */
export const previousUntil = ({ previous }: SigningSecrets): Instant | undefined =>
  previous.toSorted((a, b) => b.until - a.until)[0]?.until

export interface Resealed {
  /** Number of endpoints. */
  readonly webhooks: number
  readonly carrierVersions: number
  readonly secondFactors: number
}

/**
 * Encrypts with the current key all secrets that were encrypted with older keys. Old versions of the carriers that no
 * key of this process decrypts stay unchanged. Apart from these, the older keys are no longer needed afterwards.
 * Returns the numbers of changed secrets. Throws without an effect if any other secret was encrypted with a key that
 * this process does not have.
 */
export const resealSecrets =
  ({
    webhooks,
    carrierVersions,
    people,
    secretBox,
  }: Pick<Ports, 'webhooks' | 'carrierVersions' | 'people' | 'secretBox'>) =>
  async (): Promise<Resealed> => {
    const sealAgain = (sealed: SealedSecret): SealedSecret =>
      secretBox.isOld(sealed) ? secretBox.seal(secretBox.open(sealed)) : sealed
    const latest = await carrierVersions.latest()
    if (latest !== undefined) secretBox.open(latest.sealed)
    return {
      webhooks: await webhooks.resealSecrets(sealAgain),
      secondFactors: await people.secondFactors.resealSecrets(sealAgain),
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

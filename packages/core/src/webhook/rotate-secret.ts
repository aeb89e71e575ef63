import type { AccountId } from '../account/account.ts'
import type { Ports } from '../ports.ts'
import { secondsAfter, type Instant } from '../time/instant.ts'
import type { WebhookWithSecret } from './add-webhook.ts'
import { requireKeyInUse, type KeySettings } from './key-in-use.ts'
import type { SealedSecret } from './secret-box.ts'
import type { SigningSecrets, WebhookId } from './webhook.ts'

/** For so many hours the secret before signs beside the new one, unless it is said otherwise. */
export const overlapHoursDefault = 24

/** A week. */
export const overlapHoursMax = 168

/** So many secrets of an endpoint sign at a time: one more ends the oldest. */
export const secretsMax = 5

/**
 * Gives an endpoint another signing secret. `overlapHours`: a whole number from 0, for which the one before signs beside it. Secrets before
 * that sign until the end of their own overlap; with 0 none before signs any more. Throws an `OtherKeyError` where what is stored has another key,
 * unless `despiteKey`.
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

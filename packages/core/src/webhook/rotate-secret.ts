import type { AccountId } from '../account/account.ts'
import type { Ports } from '../ports.ts'
import { secondsAfter } from '../time/instant.ts'
import type { WebhookWithSecret } from './add-webhook.ts'
import type { WebhookId } from './webhook.ts'

/** For so many hours the secret before signs beside the new one, unless it is said otherwise. */
export const overlapHoursDefault = 24

/** A week. */
export const overlapHoursMax = 168

/** Gives an endpoint another signing secret. `overlapHours`: a whole number from 0; with 0 the secret before signs nothing any more. */
export const rotateSecret =
  (ports: Pick<Ports, 'webhooks' | 'secretBox' | 'clock'>) =>
  async (
    by: AccountId | undefined,
    id: WebhookId,
    overlapHours: number = overlapHoursDefault,
  ): Promise<WebhookWithSecret | 'no-such-webhook' | 'overlap-out-of-range'> => {
    if ((await ports.webhooks.find(by, id)) === undefined) return 'no-such-webhook'
    const isInRange = Number.isInteger(overlapHours) && overlapHours >= 0 && overlapHours <= overlapHoursMax
    if (!isInRange) return 'overlap-out-of-range'
    const secret = ports.secretBox.newSigningSecret()
    const until = secondsAfter(ports.clock.now(), overlapHours * 3600)
    const webhook = await ports.webhooks.rotate(by, id, ports.secretBox.seal(secret), until)
    return webhook === undefined ? 'no-such-webhook' : { webhook, secret }
  }

import type { AccountId } from '../account/account.ts'
import type { Ports } from '../ports.ts'
import { readWebhook, type WantedWebhook, type WebhookRefusal } from './want-webhook.ts'
import { webhookDefaults, type Webhook } from './webhook.ts'
import { defaultEventTypes } from './webhook-event.ts'

/** An endpoint with its signing secret in clear: shown once, stored encrypted. */
export interface WebhookWithSecret {
  readonly webhook: Webhook
  readonly secret: string
}

/** Adds an endpoint, active at once. An account has at most `webhooksMax` of them. */
export const addWebhook =
  (ports: Pick<Ports, 'webhooks' | 'webhookClient' | 'secretBox' | 'clock'>) =>
  async (
    account: AccountId,
    wanted: WantedWebhook & { readonly url: string },
  ): Promise<WebhookWithSecret | WebhookRefusal | 'too-many' | 'no-such-account'> => {
    const read = readWebhook(wanted, ports.webhookClient)
    if (typeof read === 'string') return read
    const secret = ports.secretBox.newSigningSecret()
    const webhook = await ports.webhooks.add(
      {
        account,
        url: wanted.url,
        events: read.events ?? defaultEventTypes,
        listSize: read.listSize ?? webhookDefaults.listSize,
        withText: read.withText ?? webhookDefaults.withText,
        secret: ports.secretBox.seal(secret),
      },
      ports.clock.now(),
    )
    return typeof webhook === 'string' ? webhook : { webhook, secret }
  }

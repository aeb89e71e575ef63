import type { AccountId } from '../account/account.ts'
import type { Ports } from '../ports.ts'
import { requireKeyInUse, type KeySettings } from './key-in-use.ts'
import { readWebhook, type WantedWebhook, type WebhookRefusal } from './want-webhook.ts'
import { webhookDefaults, type Webhook } from './webhook.ts'
import { defaultEventTypes } from './webhook-event.ts'

/** An endpoint with its signing secret in clear: shown once, stored encrypted. */
export interface WebhookWithSecret {
  readonly webhook: Webhook
  readonly secret: string
}

/**
 * Adds an endpoint, active at once. An account has at most `webhooksMax` of them. Throws an `OtherKeyError` where other secrets are stored with
 * another key, unless `despiteKey`.
 */
export const addWebhook =
  (ports: Pick<Ports, 'webhooks' | 'webhookClient' | 'carrierVersions' | 'secretBox' | 'clock'>) =>
  async (
    account: AccountId,
    wanted: WantedWebhook & { readonly url: string },
    { despiteKey = false }: KeySettings = {},
  ): Promise<WebhookWithSecret | WebhookRefusal | 'too-many' | 'no-such-account'> => {
    const read = readWebhook(wanted, ports.webhookClient)
    if (typeof read === 'string') return read
    if (!despiteKey) await requireKeyInUse(ports)
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

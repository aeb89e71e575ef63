import type { AccountId } from '../account/account.ts'
import type { Ports } from '../ports.ts'
import { readWebhook, type WantedWebhook, type WebhookRefusal } from './want-webhook.ts'
import type { Webhook, WebhookChange, WebhookId } from './webhook.ts'

/**
 * Changes an endpoint. Events that wait are kept, and go to the new URL; events of a type that it no longer wants and that wait still come. Paused:
 * nothing is pushed, and events are kept. Active: it resumes, and what waits is due at once. Undefined `by`: the operator asks.
 */
export const changeWebhook =
  (ports: Pick<Ports, 'webhooks' | 'webhookClient' | 'clock'>) =>
  async (
    by: AccountId | undefined,
    id: WebhookId,
    { state, ...wanted }: WantedWebhook & Pick<WebhookChange, 'state'>,
  ): Promise<Webhook | WebhookRefusal | 'no-such-webhook'> => {
    // First of all: whose endpoint it is decides what is told (P-10).
    if ((await ports.webhooks.find(by, id)) === undefined) return 'no-such-webhook'
    const read = readWebhook(wanted, ports.webhookClient)
    if (typeof read === 'string') return read
    return (await ports.webhooks.change(by, id, { ...read, state }, ports.clock.now())) ?? 'no-such-webhook'
  }

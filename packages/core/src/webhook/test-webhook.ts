import type { AccountId } from '../account/account.ts'
import type { Ports } from '../ports.ts'
import type { WebhookId } from './webhook.ts'
import type { WebhookEventId } from './webhook-event.ts'

/** Sends a `test` event to this endpoint alone, also while it is paused; the answer is among its attempts. */
export const testWebhook =
  (ports: Pick<Ports, 'webhooks' | 'clock'>) =>
  async (by: AccountId | undefined, id: WebhookId): Promise<WebhookEventId | 'no-such-webhook'> =>
    (await ports.webhooks.addTest(by, id, ports.clock.now())) ?? 'no-such-webhook'

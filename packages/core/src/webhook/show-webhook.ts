import type { AccountId } from '../account/account.ts'
import type { Ports } from '../ports.ts'
import type { Webhook, WebhookId } from './webhook.ts'
import type { WebhookBacklog } from './webhooks.ts'

/** An endpoint and what waits for it. */
export interface ShownWebhook {
  readonly webhook: Webhook
  readonly backlog: WebhookBacklog
}

/** Undefined also where it belongs to another account than `by`; undefined `by`: the operator asks (P-10). */
export const showWebhook =
  (ports: Pick<Ports, 'webhooks'>) =>
  async (by: AccountId | undefined, id: WebhookId): Promise<ShownWebhook | undefined> => {
    const webhook = await ports.webhooks.find(by, id)
    return webhook && { webhook, backlog: await ports.webhooks.backlog(id) }
  }

import type { AccountId } from '../accounts/account.ts'
import { withoutSecrets } from '../audit/redact.ts'
import { operatorCommand } from '../command.ts'
import type { Page } from '../messages/messages.ts'
import type { OperatorPorts } from '../ports.ts'
import { addWebhook, byOperator, changeWebhook, showWebhook, testWebhook } from './configure-webhooks.ts'
import { outcomeOfWebhook, stateOfWebhook } from './holder-use-cases.ts'
import { showReplay, startReplay, stopReplay } from './replay-events.ts'
import { resealSecrets, rotateSecret } from './signing-secrets.ts'
import type { Webhook, WebhookId } from './webhook.ts'

const stateOfAnyWebhook = (id: WebhookId) => stateOfWebhook(undefined, id)

export const webhookQueries = (ports: OperatorPorts) => ({
  listWebhooks: (id: AccountId | undefined): Promise<readonly Webhook[]> => ports.webhooks.list(id),
  showWebhook: byOperator(showWebhook(ports)),
  showReplay: byOperator(showReplay(ports)),
  listAttempts: (id: WebhookId, page: Page) => ports.webhooks.attempts(undefined, id, page),
})

export const webhookCommands = {
  addWebhook: operatorCommand({
    role: 'admin',
    run: addWebhook,
    audit: (account, settings) => ({
      account,
      given: { ...settings, url: withoutSecrets(settings.url) },
      outcome: outcomeOfWebhook,
    }),
  }),
  changeWebhook: operatorCommand({
    role: 'support',
    run: (ports) => byOperator(changeWebhook(ports)),
    audit: stateOfAnyWebhook,
  }),
  rotateWebhookSecret: operatorCommand({
    role: 'admin',
    run: (ports) => byOperator(rotateSecret(ports)),
    audit: (id, overlapHours) => stateOfWebhook(undefined, id, { overlapHours }),
  }),
  removeWebhook: operatorCommand({
    role: 'admin',
    run: (ports) => (id: WebhookId) => ports.webhooks.remove(undefined, id),
    audit: stateOfAnyWebhook,
  }),
  testWebhook: operatorCommand({
    role: 'support',
    run: (ports) => byOperator(testWebhook(ports)),
    audit: stateOfAnyWebhook,
  }),
  startReplay: operatorCommand({
    role: 'support',
    run: (ports) => byOperator(startReplay(ports)),
    audit: (id, replay) => stateOfWebhook(undefined, id, { ...replay }),
  }),
  stopReplay: operatorCommand({
    role: 'support',
    run: (ports) => byOperator(stopReplay(ports)),
    audit: stateOfAnyWebhook,
  }),
  resealSecrets: operatorCommand({
    role: 'admin',
    run: resealSecrets,
    audit: () => ({ outcome: (resealed) => ({ ...resealed }) }),
  }),
}

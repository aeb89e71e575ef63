import type { Account, AccountId } from '../accounts/account.ts'
import type { AuditDetail } from '../audit/audit-log.ts'
import { withoutSecrets } from '../audit/redact.ts'
import { byAccount, holderCommand } from '../command.ts'
import type { Page } from '../messages/messages.ts'
import type { HolderPorts, WebhookPorts } from '../ports.ts'
import { addWebhook, changeWebhook, showWebhook, testWebhook, type WebhookSettings } from './configure-webhooks.ts'
import { showReplay, startReplay, stopReplay } from './replay-events.ts'
import { rotateSecret, type WebhookWithSecret } from './signing-secrets.ts'
import type { WebhookId } from './webhook.ts'

/**
 * Returns the state of an endpoint for the audit log. If `owner` is defined, only an endpoint of this account is found.
 */
export const stateOfWebhook = (owner: AccountId | undefined, webhook: WebhookId, details: AuditDetail = {}) => ({
  given: { webhook, ...details },
  state: async ({ webhooks }: WebhookPorts): Promise<AuditDetail> => {
    const found = await webhooks.find(owner, webhook)
    if (found === undefined) return {}
    const { account, url, events, listSize, withText, state } = found
    return { account, url: withoutSecrets(url), events, listSize, withText, state }
  },
})

const stateOfOwnWebhook = ({ id }: Account, webhook: WebhookId) => stateOfWebhook(id, webhook)

/** Returns the recorded outcome of a new endpoint, without its secret. */
export const outcomeOfWebhook = (added: WebhookWithSecret | string) =>
  typeof added === 'string' ? added : { webhook: added.webhook.id }

export const webhookQueries = (ports: HolderPorts) => ({
  listWebhooks: ({ id }: Account) => ports.webhooks.list(id),
  showWebhook: byAccount(showWebhook(ports)),
  showReplay: byAccount(showReplay(ports)),
  listAttempts: byAccount((account, id: WebhookId, page: Page) => ports.webhooks.attempts(account, id, page)),
})

export const webhookCommands = {
  addWebhook: holderCommand({
    role: 'owner',
    run: (ports) =>
      byAccount((account, settings: WebhookSettings & { readonly url: string }) =>
        addWebhook(ports)(account, settings),
      ),
    audit: (_account, settings) => ({
      given: { ...settings, url: withoutSecrets(settings.url) },
      outcome: outcomeOfWebhook,
    }),
  }),
  changeWebhook: holderCommand({
    role: 'owner',
    run: (ports) => byAccount(changeWebhook(ports)),
    audit: stateOfOwnWebhook,
  }),
  rotateWebhookSecret: holderCommand({
    role: 'owner',
    run: (ports) =>
      byAccount((account, id: WebhookId, overlapHours?: number) => rotateSecret(ports)(account, id, overlapHours)),
    audit: ({ id: account }, id, overlapHours) => stateOfWebhook(account, id, { overlapHours }),
  }),
  removeWebhook: holderCommand({
    role: 'owner',
    run: (ports) => byAccount((account, id: WebhookId) => ports.webhooks.remove(account, id)),
    audit: stateOfOwnWebhook,
  }),
  testWebhook: holderCommand({
    role: 'owner',
    run: (ports) => byAccount(testWebhook(ports)),
    audit: stateOfOwnWebhook,
  }),
  startReplay: holderCommand({
    role: 'owner',
    run: (ports) => byAccount(startReplay(ports)),
    audit: ({ id: account }, id, { kind, ...replay }) => stateOfWebhook(account, id, { what: kind, ...replay }),
  }),
  stopReplay: holderCommand({
    role: 'owner',
    run: (ports) => byAccount(stopReplay(ports)),
    audit: stateOfOwnWebhook,
  }),
}

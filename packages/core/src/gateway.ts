import type { Account } from './account/account.ts'
import { authenticate } from './account/authenticate.ts'
import { listSubAccounts } from './account/list-sub-accounts.ts'
import { creditBalance } from './credits/credit-balance.ts'
import { transferCredits } from './credits/transfer-credits.ts'
import { gatewayDefaults, type GatewaySettings } from './gateway-settings.ts'
import { listReplies, listShortCodeMessages } from './inbox/list-inbox.ts'
import { takeReplies, takeShortCodeMessages } from './inbox/take-inbox.ts'
import type { Page } from './message/page.ts'
import { deleteScheduled } from './message/delete-scheduled.ts'
import { queryStatus } from './message/query-status.ts'
import { sendMessages } from './message/send-messages.ts'
import type { Ports } from './ports.ts'
import { addOptOut } from './suppression/add-opt-out.ts'
import { removeOptOut } from './suppression/remove-opt-out.ts'
import {
  addWebhook,
  byHolder,
  changeWebhook,
  showWebhook,
  testWebhook,
  type WantedWebhook,
} from './webhook/configure-webhooks.ts'
import { showReplay, startReplay, stopReplay } from './webhook/replay-events.ts'
import { rotateSecret } from './webhook/signing-secrets.ts'
import type { WebhookId } from './webhook/webhook.ts'

/** What an account holder can do, on whichever interface. */
export const createGateway = (
  ports: Pick<
    Ports,
    | 'accounts'
    | 'rateLimits'
    | 'ledger'
    | 'prices'
    | 'suppressions'
    | 'messages'
    | 'clientRequests'
    | 'inbox'
    | 'clock'
    | 'secrets'
    | 'webhooks'
    | 'carrierVersions'
    | 'webhookClient'
    | 'secretBox'
  >,
  { senders, takenMax, activity }: GatewaySettings = gatewayDefaults,
) => ({
  authenticate: authenticate(ports, activity),
  creditBalance: creditBalance(ports),
  sendMessages: sendMessages(ports, senders, activity),
  queryStatus: queryStatus(ports),
  listScheduled: (account: Account, page: Page) => ports.messages.scheduled(account.id, page),
  deleteScheduled: deleteScheduled(ports),
  transferCredits: transferCredits(ports),
  listSubAccounts: listSubAccounts(ports),
  listReplies: listReplies(ports),
  takeReplies: takeReplies(ports, takenMax),
  listShortCodeMessages: listShortCodeMessages(ports),
  takeShortCodeMessages: takeShortCodeMessages(ports, takenMax),
  listOptOuts: (account: Account) => ports.suppressions.optOuts(account.id),
  addOptOut: addOptOut(ports),
  removeOptOut: removeOptOut(ports),
  addWebhook: (account: Account, wanted: WantedWebhook & { readonly url: string }) =>
    addWebhook(ports)(account.id, wanted),
  listWebhooks: (account: Account) => ports.webhooks.list(account.id),
  showWebhook: byHolder(showWebhook(ports)),
  changeWebhook: byHolder(changeWebhook(ports)),
  rotateWebhookSecret: byHolder((by, id: WebhookId, overlapHours?: number) =>
    rotateSecret(ports)(by, id, overlapHours),
  ),
  removeWebhook: byHolder((by, id: WebhookId) => ports.webhooks.remove(by, id)),
  testWebhook: byHolder(testWebhook(ports)),
  startReplay: byHolder(startReplay(ports)),
  showReplay: byHolder(showReplay(ports)),
  stopReplay: byHolder(stopReplay(ports)),
  listAttempts: byHolder((by, id: WebhookId, page: Page) => ports.webhooks.attempts(by, id, page)),
})

export type Gateway = ReturnType<typeof createGateway>

import type { AccountActivity } from './account/account-rates.ts'
import type { Account } from './account/account.ts'
import { authenticate } from './account/authenticate.ts'
import { listSubAccounts } from './account/change-account.ts'
import { creditBalance, transferCredits } from './credits/move-credits.ts'
import {
  listReplies,
  listShortCodeMessages,
  takenMaxDefault,
  takeReplies,
  takeShortCodeMessages,
} from './inbox/take-inbox.ts'
import { deleteScheduled, queryStatus } from './message/follow-messages.ts'
import type { Page } from './message/messages.ts'
import { defaultSenders, type SenderAddress } from './message/msisdn.ts'
import { sendMessages } from './message/send-messages.ts'
import type { Ports } from './ports.ts'
import { addOptOut, removeOptOut } from './suppression/change-suppressions.ts'
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

/** What an operator may set for all accounts, and who watches them. */
export interface GatewaySettings {
  /** Where messages of accounts without a code leave from; at least one. */
  readonly senders: readonly SenderAddress[]
  /** Messages of one return-once call at the most (ruling 1.20). */
  readonly takenMax: number
  /** Is told what accounts ask for. */
  readonly activity?: AccountActivity | undefined
}

export const gatewayDefaults: GatewaySettings = { senders: defaultSenders, takenMax: takenMaxDefault }

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
    | 'senders'
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

import type { AccountActivity } from './accounts/account-rates.ts'
import type { Account, AccountId, KeyId } from './accounts/account.ts'
import { authenticate } from './accounts/authenticate.ts'
import { issueApiKey, listSubAccounts, revokeOwnKey, type KeyWanted } from './accounts/change-account.ts'
import { acceptInvitation, accountUsers, findInvited } from './people/manage-users.ts'
import { signInWithCode } from './people/sign-in-steps.ts'
import { changePassword, findSession, holders, ownSignIn, signIn, signInByLink } from './people/sign-in.ts'
import type { UserId } from './people/users.ts'
import { creditBalance, listStatement, showStatement, transferCredits } from './credits/move-credits.ts'
import { countUnread, listConversations, showConversation } from './inbox/show-conversations.ts'
import {
  listReplies,
  listShortCodeMessages,
  takenMaxDefault,
  takeReplies,
  takeShortCodeMessages,
} from './inbox/take-inbox.ts'
import type { BulkSendId, NewBulkSend } from './bulk-sends/bulk-sends.ts'
import { deleteScheduled, findMessages, queryStatus, type WantedMessages } from './messages/follow-messages.ts'
import type { MessageId, Page } from './messages/messages.ts'
import { defaultSenders, type SenderAddress } from './messages/msisdn.ts'
import { quoteMessages } from './messages/quote-messages.ts'
import { changeScheduled } from './messages/change-scheduled.ts'
import { addTemplate, changeTemplate, findTemplate } from './bulk-sends/keep-templates.ts'
import {
  bulkIds,
  cancelBulkSend,
  draftBulkSend,
  quoteBulkSend,
  sendNextCall,
  startBulkSend,
} from './bulk-sends/send-in-bulk.ts'
import { sendMessages } from './messages/send-messages.ts'
import { lastSend, listSent, showSent } from './messages/show-sent.ts'
import type { TemplateId } from './bulk-sends/templates.ts'
import type { Ports } from './ports.ts'
import { addOptOut, removeOptOut } from './suppressions/change-suppressions.ts'
import type { GatewayDay } from './time/gateway-time.ts'
import {
  addWebhook,
  byHolder,
  changeWebhook,
  showWebhook,
  testWebhook,
  type WantedWebhook,
} from './webhooks/configure-webhooks.ts'
import { showReplay, startReplay, stopReplay } from './webhooks/replay-events.ts'
import { rotateSecret } from './webhooks/signing-secrets.ts'
import type { WebhookId } from './webhooks/webhook.ts'

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

/** For use cases that name the account: the own one. */
const byAccount =
  <Args extends readonly unknown[], Result>(useCase: (account: AccountId, ...args: Args) => Result) =>
  (account: Account, ...args: Args): Result =>
    useCase(account.id, ...args)

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
    | 'conversations'
    | 'personalData'
    | 'clock'
    | 'secrets'
    | 'webhooks'
    | 'carrierVersions'
    | 'senders'
    | 'webhookClient'
    | 'secretBox'
    | 'sessions'
    | 'users'
    | 'secondFactors'
    | 'loginFailures'
    | 'sentMessages'
    | 'dailySums'
    | 'messageTraces'
    | 'bulkSends'
    | 'templates'
  >,
  { senders, takenMax, activity }: GatewaySettings = gatewayDefaults,
) => ({
  authenticate: authenticate(ports, activity),
  creditBalance: creditBalance(ports),
  signIn: signIn(ports),
  signInWithCode: signInWithCode(ports, holders(ports)),
  signInByLink: signInByLink(ports),
  findSession: findSession(ports),
  changePassword: changePassword(ports),
  ...ownSignIn(ports),
  inviteUser: byAccount(accountUsers(ports).invite),
  listUsers: (account: Account) => ports.users.list(account.id),
  findUser: (account: Account, id: UserId) => ports.users.find(account.id, id),
  renewUserLink: byAccount(accountUsers(ports).renewLink),
  setUserRole: byAccount(accountUsers(ports).setRole),
  lockUser: byAccount(accountUsers(ports).lock),
  unlockUser: byAccount(accountUsers(ports).unlock),
  removeUser: byAccount(accountUsers(ports).remove),
  resetUserFactor: byAccount(accountUsers(ports).resetFactor),
  findInvited: findInvited(ports),
  acceptInvitation: acceptInvitation(ports),
  issueKey: (account: Account, wanted: KeyWanted) => issueApiKey(ports)(account.id, wanted),
  listKeys: (account: Account) => ports.accounts.keys(account.id),
  revokeKey: (account: Account, key: KeyId) => revokeOwnKey(ports)(account, key),
  quoteMessages: quoteMessages(ports),
  sendMessages: sendMessages(ports, senders, activity),
  listSent: listSent(ports),
  showSent: showSent(ports),
  findSent: (account: Account, id: MessageId) => ports.sentMessages.find(account.id, id),
  lastSend: lastSend(ports),
  listDailySums: (account: Account, from: GatewayDay) => ports.dailySums.ofAccount(account.id, from),
  searchSent: (account: Account, wanted: Omit<WantedMessages, 'account'>) =>
    findMessages(ports)({ ...wanted, account: account.id } as WantedMessages),
  draftBulkSend: draftBulkSend(ports),
  listBulkDrafts: (account: Account, page: Parameters<Ports['bulkSends']['listDrafts']>[1]) =>
    ports.bulkSends.listDrafts(account.id, page),
  discardBulkSend: (account: Account, id: BulkSendId) => ports.bulkSends.discard(account.id, id),
  findBulkSend: (account: Account, id: BulkSendId) => ports.bulkSends.find(account.id, id),
  changeBulkSend: (account: Account, id: BulkSendId, change: Pick<NewBulkSend, 'text' | 'scheduled'>) =>
    ports.bulkSends.change(account.id, id, change),
  quoteBulkSend: quoteBulkSend(ports),
  listBulkSends: (account: Account, page: Parameters<Ports['bulkSends']['list']>[1]) =>
    ports.bulkSends.list(account.id, page),
  bulkOutcomes: (account: Account, id: BulkSendId) => ports.bulkSends.outcomes(account.id, id),
  returnedCredits: (account: Account, ids: readonly BulkSendId[]) => ports.bulkSends.returned(account.id, ids),
  bulkIds: bulkIds(ports),
  cancelBulkSend: cancelBulkSend(ports),
  bulkRows: (account: Account, id: BulkSendId, call: number) => ports.bulkSends.rows(account.id, id, call),
  startBulkSend: startBulkSend(ports),
  stopBulkSend: (account: Account, id: BulkSendId) => ports.bulkSends.stop(account.id, id),
  sendNextCall: sendNextCall(ports, sendMessages(ports, senders, activity)),
  listTemplates: (account: Account) => ports.templates.list(account.id),
  findTemplate: findTemplate(ports),
  addTemplate: addTemplate(ports),
  changeTemplate: changeTemplate(ports),
  removeTemplate: (account: Account, id: TemplateId) => ports.templates.remove(account.id, id),
  queryStatus: queryStatus(ports),
  listScheduled: (account: Account, page: Page) => ports.messages.scheduled(account.id, page),
  deleteScheduled: deleteScheduled(ports),
  changeScheduled: changeScheduled(ports, sendMessages(ports, senders, activity)),
  transferCredits: transferCredits(ports),
  listSubAccounts: listSubAccounts(ports),
  listStatement: listStatement(ports),
  showStatement: showStatement(ports),
  listReplies: listReplies(ports),
  takeReplies: takeReplies(ports, takenMax),
  listShortCodeMessages: listShortCodeMessages(ports),
  takeShortCodeMessages: takeShortCodeMessages(ports, takenMax),
  listConversations: listConversations(ports),
  showConversation: showConversation(ports),
  markRead: (account: Account, from: string, arrived: number) =>
    ports.conversations.markRead(account.id, from, arrived),
  countUnread: countUnread(ports),
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

import type { AccountRate } from './accounts/account-rates.ts'
import type { AccountId, ApiKey, KeyId } from './accounts/account.ts'
import type { AccountWithBalance } from './accounts/accounts.ts'
import {
  changeAccount,
  findAccount,
  findByLogin,
  issueApiKey,
  listSubAccounts,
  lockAccount,
  openAccount,
  revokeApiKey,
  setPassword,
  unlockAccount,
} from './accounts/change-account.ts'
import { closeAccount } from './accounts/close-account.ts'
import { accountUsers } from './people/manage-users.ts'
import { ownSecondFactor } from './people/second-factor.ts'
import { factorOwner, type SecondFactor } from './people/second-factors.ts'
import { signInWithCode } from './people/sign-in-steps.ts'
import type { SessionId } from './people/sessions.ts'
import { offerSignInLink } from './people/sign-in.ts'
import type { User } from './people/users.ts'
import type { AuditCheck, AuditEntry, AuditSearch, ListedChange } from './audit/audit-log.ts'
import type { PrefixFigures } from './fleet/carrier-figures.ts'
import type { CarrierId } from './dispatch/carrier-id.ts'
import type { HeldCarrier } from './fleet/carrier-modes.ts'
import { decideDoubt } from './dispatch/decide-doubt.ts'
import type { FailedOverSend, Promotion } from './dispatch/promotions.ts'
import type { PublishedRoute } from './routes/published-routes.ts'
import type { CarrierMode } from './dispatch/carrier.ts'
import { carrierStaleSeconds, type ToldCarrier } from './fleet/carrier-statuses.ts'
import type { RunningDispatcher, WaitingRoute, WaitingWork } from './fleet/overview.ts'
import type { UnmatchedReceipt } from './dispatch/delivery-receipts.ts'
import { listUnreadReceipts } from './dispatch/unread-receipts.ts'
import { listMovements, refundMessage, topUp } from './credits/move-credits.ts'
import { listPrices, removePrice, setPrice } from './credits/set-prices.ts'
import type { UnownedMessage } from './inbox/inbox.ts'
import { dailySumDays } from './messages/daily-sums.ts'
import { dropHistory, skipIds } from './messages/drop-history.ts'
import { cancelMessage, findMessages } from './messages/follow-messages.ts'
import type { MessageTrace } from './messages/message-traces.ts'
import type { MessageId, Page } from './messages/messages.ts'
import type { Msisdn, SenderAddress } from './messages/msisdn.ts'
import { showTraffic } from './messages/show-sent.ts'
import { allowSender, type AllowedSender, type AssignedCode } from './messages/senders.ts'
import { eraseNumber, exportNumber, heldUp, listErasures, type HeldUp } from './personal-data/erase-number.ts'
import type { Operator, OperatorId, OperatorRole } from './people/operators.ts'
import {
  beginOperatorFactor,
  actingSeconds,
  addOperator,
  changeOperatorPassword,
  endOperatorSessions,
  findActing,
  findOperatorSession,
  listOperatorSessions,
  operatorArea,
  setOperatorPassword,
  signInNamedOperator,
  signInOperator,
  type OperatorSettings,
} from './people/operator-sign-in.ts'
import type { Ports } from './ports.ts'
import { processingDefaults, type ProcessingSettings } from './processing.ts'
import type { Instant } from './time/instant.ts'
import {
  blockNumber,
  blockNumbers,
  importOptOuts,
  unblockNumber,
  type BlockReason,
} from './suppressions/change-suppressions.ts'
import type { SuppressionEntry } from './suppressions/suppressions.ts'
import { gatewayDay, type GatewayDay } from './time/gateway-time.ts'
import { addWebhook, byOperator, changeWebhook, showWebhook, testWebhook } from './webhooks/configure-webhooks.ts'
import { showReplay, startReplay, stopReplay } from './webhooks/replay-events.ts'
import { resealSecrets, rotateSecret } from './webhooks/signing-secrets.ts'
import type { Webhook, WebhookId } from './webhooks/webhook.ts'

/** What a process told of its accounts counts for so long; it tells every ten seconds. */
const busySeconds = 30

export interface AccountFactor {
  readonly factor: SecondFactor | undefined
  readonly isRequired: boolean
}

/** What the operator can do. */
export const createBackOffice = (
  ports: Pick<
    Ports,
    | 'accounts'
    | 'accountRates'
    | 'sessions'
    | 'users'
    | 'secondFactors'
    | 'loginFailures'
    | 'ledger'
    | 'dailySums'
    | 'prices'
    | 'suppressions'
    | 'senders'
    | 'inbox'
    | 'messageTraces'
    | 'messages'
    | 'overview'
    | 'promotions'
    | 'routes'
    | 'carrierFigures'
    | 'carrierModes'
    | 'carrierStatuses'
    | 'carrierVersions'
    | 'deliveryReceipts'
    | 'unreadReceipts'
    | 'history'
    | 'clock'
    | 'secrets'
    | 'webhooks'
    | 'webhookClient'
    | 'secretBox'
    | 'personalData'
    | 'auditLog'
    | 'operators'
  >,
  {
    contactDays = processingDefaults.contactDays,
    secondFactorRequired = false,
  }: Partial<Pick<ProcessingSettings, 'contactDays'> & OperatorSettings> = {},
) => ({
  openAccount: openAccount(ports),
  listAccounts: (after?: AccountId): AsyncIterable<AccountWithBalance> => ports.accounts.list(after),
  findAccount: (id: AccountId): Promise<AccountWithBalance | undefined> => ports.accounts.find(id),
  listSubAccounts: listSubAccounts(ports),
  findAccountByName: findAccount(ports),
  findAccountByLogin: findByLogin(ports),
  changeAccount: changeAccount(ports),
  lockAccount: lockAccount(ports),
  unlockAccount: unlockAccount(ports),
  closeAccount: closeAccount(ports),
  setPassword: setPassword(ports),
  offerSignInLink: offerSignInLink(ports),
  inviteUser: accountUsers(ports).invite,
  listUsers: (id: AccountId): Promise<readonly User[]> => ports.users.list(id),
  findUserByEmail: (email: string): Promise<User | undefined> =>
    ports.users.byEmail(email).then((found) => found?.user),
  renewUserLink: accountUsers(ports).renewLink,
  setUserRole: accountUsers(ports).setRole,
  lockUser: accountUsers(ports).lock,
  unlockUser: accountUsers(ports).unlock,
  removeUser: accountUsers(ports).remove,
  resetUserFactor: accountUsers(ports).resetFactor,
  issueApiKey: issueApiKey(ports),
  listBusyAccounts: (): Promise<readonly AccountRate[]> => ports.accountRates.list(busySeconds),
  listApiKeys: (id: AccountId): Promise<readonly ApiKey[]> => ports.accounts.keys(id),
  revokeApiKey: revokeApiKey(ports),
  restrictApiKey: (key: KeyId, from: readonly string[]): Promise<boolean> => ports.accounts.setKeyFrom(key, from),
  topUp: topUp(ports),
  verifyLedger: () => ports.ledger.check(),
  verifyDailySums: () => ports.dailySums.check((gatewayDay(ports.clock.now()) - dailySumDays.checked) as GatewayDay),
  showTraffic: showTraffic(ports),
  refundMessage: refundMessage(ports),
  listMovements: listMovements(ports),
  setPrice: setPrice(ports),
  removePrice: removePrice(ports),
  listPrices: listPrices(ports),
  blockNumber: blockNumber(ports),
  blockNumbers: blockNumbers(ports),
  importOptOuts: importOptOuts(ports),
  unblockNumber: unblockNumber(ports),
  listBlockedNumbers: (reason: BlockReason): AsyncIterable<SuppressionEntry> =>
    ports.suppressions.list('everybody', reason),
  explainMessage: (id: MessageId): Promise<MessageTrace | undefined> => ports.messageTraces.of(id),
  findMessages: findMessages(ports),
  cancelMessage: cancelMessage(ports),
  exportNumber: exportNumber(ports),
  eraseNumber: eraseNumber(ports),
  heldUp: (number: Msisdn): Promise<HeldUp> => heldUp(ports, number),
  listErasures: listErasures(ports),
  listDispatchers: (): Promise<readonly RunningDispatcher[]> => ports.overview.dispatchers(),
  listCarriers: (): Promise<readonly ToldCarrier[]> => ports.carrierStatuses.list(carrierStaleSeconds),
  listHeldCarriers: (): Promise<readonly HeldCarrier[]> => ports.carrierModes.list(),
  setCarrierMode: (carrier: CarrierId, mode: CarrierMode, by: string): Promise<boolean> =>
    ports.carrierModes.set(carrier, mode, by),
  carrierFigures: (carrier: CarrierId): Promise<readonly PrefixFigures[]> => ports.carrierFigures.of(carrier),
  listUnreadReceipts: listUnreadReceipts(ports),
  listUnmatchedReceipts: (countMax: number): Promise<readonly UnmatchedReceipt[]> =>
    ports.deliveryReceipts.unmatched(countMax),
  listPromotions: (): Promise<readonly Promotion[]> => ports.promotions.open(),
  listFailedOverSends: (): Promise<readonly FailedOverSend[]> => ports.promotions.failedOverSends(),
  decideDoubt: decideDoubt(ports),
  showQueue: (): AsyncIterable<WaitingWork> => ports.overview.queue(),
  listRoutes: (): Promise<readonly PublishedRoute[]> => ports.routes.list(),
  showRoutes: (): Promise<readonly WaitingRoute[]> => ports.overview.routes(),
  dropHistory: dropHistory(ports, contactDays),
  skipIds: skipIds(ports),
  assignShortCode: (
    code: SenderAddress,
    id: AccountId,
  ): Promise<'assigned' | 'already' | 'taken' | 'no-such-account'> => ports.senders.assign(code, id),
  releaseShortCode: (code: SenderAddress): Promise<boolean> => ports.senders.release(code),
  allowSender: allowSender(ports),
  disallowSender: (account: AccountId, sender: SenderAddress): Promise<boolean> =>
    ports.senders.disallow(account, sender),
  listAllowedSenders: (): Promise<readonly AllowedSender[]> => ports.senders.allowed(),
  listShortCodes: (): Promise<readonly AssignedCode[]> => ports.senders.assigned(),
  listUnownedMessages: (): AsyncIterable<UnownedMessage> => ports.inbox.unowned(),
  addWebhook: addWebhook(ports),
  listWebhooks: (id: AccountId | undefined): Promise<readonly Webhook[]> => ports.webhooks.list(id),
  showWebhook: byOperator(showWebhook(ports)),
  changeWebhook: byOperator(changeWebhook(ports)),
  rotateWebhookSecret: byOperator(rotateSecret(ports)),
  removeWebhook: (id: WebhookId): Promise<boolean> => ports.webhooks.remove(undefined, id),
  testWebhook: byOperator(testWebhook(ports)),
  startReplay: byOperator(startReplay(ports)),
  showReplay: byOperator(showReplay(ports)),
  stopReplay: byOperator(stopReplay(ports)),
  resealSecrets: resealSecrets(ports),
  addOperator: addOperator(ports),
  listOperators: (): Promise<readonly Operator[]> => ports.operators.list(),
  lockOperator: (id: OperatorId): Promise<boolean> => ports.operators.setLocked(id, true),
  unlockOperator: (id: OperatorId): Promise<boolean> => ports.operators.setLocked(id, false),
  setOperatorRole: (id: OperatorId, role: OperatorRole): Promise<boolean> => ports.operators.setRole(id, role),
  setOperatorPassword: setOperatorPassword(ports),
  signInOperator: signInOperator(ports, { secondFactorRequired }),
  signInNamedOperator: signInNamedOperator(ports, { secondFactorRequired }),
  signInOperatorWithCode: signInWithCode(ports, operatorArea(ports, { secondFactorRequired })),
  findOperatorSession: findOperatorSession(ports, { secondFactorRequired }),
  changeOperatorPassword: changeOperatorPassword(ports, { secondFactorRequired }),
  isOperatorFactorRequired: (): boolean => secondFactorRequired,
  findOperatorFactor: (id: OperatorId) => ports.secondFactors.find(factorOwner('operator', id)),
  beginOperatorFactor: beginOperatorFactor(ports),
  setOperatorFactor: ({ id }: Operator, challenge: string, code: string) =>
    ownSecondFactor(ports).set(factorOwner('operator', id), challenge, code),
  renewOperatorCodes: ({ id }: Operator, code: string) =>
    ownSecondFactor(ports).renewCodes(factorOwner('operator', id), code),
  removeOperatorFactor: ({ id }: Operator, code: string) =>
    ownSecondFactor(ports).remove(factorOwner('operator', id), code, secondFactorRequired),
  resetOperatorFactor: (id: OperatorId): Promise<boolean> => ports.secondFactors.remove(factorOwner('operator', id)),
  showAccountFactor: async (id: AccountId): Promise<AccountFactor> => ({
    factor: await ports.secondFactors.find(factorOwner('account', id)),
    isRequired: await ports.secondFactors.isRequired(id),
  }),
  requireAccountFactor: (id: AccountId, isRequired: boolean): Promise<boolean> =>
    ports.secondFactors.setRequired(id, isRequired),
  resetAccountFactor: (id: AccountId): Promise<boolean> => ports.secondFactors.remove(factorOwner('account', id)),
  actAs: (account: AccountId, of: OperatorId, session: SessionId): Promise<Instant | undefined> =>
    ports.operators.actAs(of, session, account, actingSeconds),
  endActingAs: (_account: AccountId, of: OperatorId, session: SessionId): Promise<AccountId | undefined> =>
    ports.operators.endActingAs(of, session),
  findActing: findActing(ports, { secondFactorRequired }),
  listOperatorSessions: listOperatorSessions(ports),
  endOperatorSessions: endOperatorSessions(ports),
  listChanges: (search: AuditSearch, countMax: number): Promise<readonly ListedChange[]> =>
    ports.auditLog.list(search, countMax),
  exportAuditLog: (): AsyncIterable<readonly AuditEntry[]> => ports.auditLog.entries(),
  verifyAuditLog: (): Promise<AuditCheck> => ports.auditLog.check(),
  listAttempts: (id: WebhookId, page: Page) => ports.webhooks.attempts(undefined, id, page),
})

export type BackOffice = ReturnType<typeof createBackOffice>

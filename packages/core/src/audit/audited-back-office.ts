import type { AccountId, KeyId } from '../accounts/account.ts'
import type { UserId } from '../people/users.ts'
import { createBackOffice, type BackOffice } from '../back-office.ts'
import type { Msisdn } from '../messages/msisdn.ts'
import { NothingDoneError } from '../nothing-done.ts'
import type { Operator, OperatorId, OperatorRole } from '../people/operators.ts'
import type { OperatorSettings } from '../people/operator-sign-in.ts'
import type { Ports } from '../ports.ts'
import type { WebhookId } from '../webhooks/webhook.ts'
import type { AuditActor, AuditDetail, AuditedChange, AuditOutcome, AuditValue } from './audit-log.ts'

/** Makes a change with an entry before it and one after it, and passes on what `work` returns or throws. */
export type MakeChange<Action extends string = string> = <Result>(
  change: ChangeToMake<Result> & { readonly action: Action },
  work: () => Promise<Result>,
) => Promise<Result>

export interface ChangeToMake<Result> extends AuditedChange {
  /** Reads what the change changes: it is recorded where it differs afterwards. */
  readonly state?: (() => Promise<AuditDetail>) | undefined
  /** What of the result is recorded. Without it: words, numbers and truths as they are, 'done' for all else. */
  readonly told?: ((result: Awaited<Result>) => AuditValue) | undefined
}

/**
 * Records what an operator changes (decision 0098). The first entry is stored before the change is made: without it
 * nothing is changed. Where the second one cannot be stored after a change, the promise rejects though it was made.
 * What is read before and after is not of one moment: of two who change the same at once both may see both changes.
 */
export const changesBy =
  ({ auditLog }: Pick<Ports, 'auditLog'>, actor: AuditActor): MakeChange =>
  async (change, work) => {
    const { state, told, ...begun } = change
    const before = await state?.()
    const sequence = await auditLog.begin(actor, begun)
    const result = await work().catch(async (problem: unknown) => {
      const outcome = `failed: ${problem instanceof Error ? problem.message : String(problem)}`
      await auditLog.end(sequence, { outcome }).catch(() => undefined)
      throw problem
    })
    const changed = before && differences(before, (await state?.()) ?? {})
    await auditLog.end(sequence, { outcome: told === undefined ? plain(result) : told(result), changed })
    return result
  }

/** What of a webhook is recorded; `of`: where it is this account's. */
export const stateOfWebhook =
  ({ webhooks }: Pick<Ports, 'webhooks'>, of: AccountId | undefined, webhook: WebhookId) =>
  async (): Promise<AuditDetail> => {
    const found = await webhooks.find(of, webhook)
    if (found === undefined) return {}
    const { account, url, events, listSize, withText, state } = found
    return { account, url: withoutSecrets(url), events, listSize, withText, state }
  }

/** What of a user of an account is recorded. */
export const stateOfUser =
  ({ users }: Pick<Ports, 'users'>, account: AccountId, user: UserId) =>
  async (): Promise<AuditDetail> => {
    const found = await users.find(account, user)
    return found === undefined ? {} : { email: found.email, role: found.role, locked: found.locked }
  }

const plain = (result: unknown): AuditValue =>
  typeof result === 'string' || typeof result === 'number' || typeof result === 'boolean' ? result : 'done'

function differences(before: AuditDetail, after: AuditDetail): AuditOutcome['changed'] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  if (changed.length === 0) return undefined
  return Object.fromEntries(changed.map((name) => [name, [before[name] ?? null, after[name] ?? null]]))
}

/** A number without the digits that tell whose it is: the log is never changed, also not when a number is erased. */
export const withoutSomeDigits = (number: Msisdn): string => `${number.slice(0, 5)}…${number.slice(-2)}`

/** Of an address what tells where it leads: user info and query may have secrets. */
export const withoutSecrets = (url: string): string =>
  url.replace(
    /^([a-z]+:\/\/)(?:[^/?#]*@)?([^?#]*)(\?[^#]*)?.*$/i,
    (_, scheme: string, rest: string, query?: string) => `${scheme}${rest}${query === undefined ? '' : '?…'}`,
  )

type Operation = keyof BackOffice
type ChangeOf<Name extends Operation> = (
  ...args: Parameters<BackOffice[Name]>
) => Omit<ChangeToMake<Awaited<ReturnType<BackOffice[Name]>>>, 'action'>

/** Operations that change nothing that is worth an entry. */
type Reading =
  | 'listAccounts'
  | 'findAccount'
  | 'listSubAccounts'
  | 'findAccountByName'
  | 'findAccountByLogin'
  | 'listBusyAccounts'
  | 'listApiKeys'
  | 'listUsers'
  | 'findUserByEmail'
  | 'verifyLedger'
  | 'verifyDailySums'
  | 'showTraffic'
  | 'listMovements'
  | 'listPrices'
  | 'listBlockedNumbers'
  | 'explainMessage'
  | 'findMessages'
  | 'heldUp'
  | 'listErasures'
  | 'listDispatchers'
  | 'listCarriers'
  | 'listHeldCarriers'
  | 'carrierFigures'
  | 'listUnmatchedReceipts'
  | 'listUnreadReceipts'
  | 'listPromotions'
  | 'listFailedOverSends'
  | 'showQueue'
  | 'listRoutes'
  | 'showRoutes'
  | 'listAllowedSenders'
  | 'listShortCodes'
  | 'listUnownedMessages'
  | 'listWebhooks'
  | 'showWebhook'
  | 'showReplay'
  | 'listAttempts'
  | 'listOperators'
  | 'signInOperator'
  | 'signInNamedOperator'
  | 'signInOperatorWithCode'
  | 'isOperatorFactorRequired'
  | 'findOperatorFactor'
  | 'beginOperatorFactor'
  | 'showAccountFactor'
  | 'findOperatorSession'
  | 'findActing'
  | 'listOperatorSessions'
  | 'endOperatorSessions'
  | 'listChanges'
  | 'exportAuditLog'
  | 'verifyAuditLog'

/** Operations of the back office that change something. */
export type OperatorChange = Exclude<Operation, Reading>

type AuditedPorts = Pick<Ports, 'accounts' | 'operators' | 'prices' | 'secondFactors' | 'users' | 'webhooks'>

/** What each of the others changes. A new operation of the back office does not compile until it is here or above. */
const changesOf = (ports: AuditedPorts) => {
  const ofAccount = (account: AccountId) => ({
    account,
    state: async (): Promise<AuditDetail> => {
      const found = await ports.accounts.find(account)
      if (found === undefined) return {}
      const { trial, ...rest } = found.account
      return { ...rest, trial: trial && withoutSomeDigits(trial.ownNumber), balanceTenths: found.balance }
    },
  })
  const ofKey = (key: KeyId, given: AuditDetail = {}) => ({ given: { key, ...given } })
  const ofWebhook = (webhook: WebhookId, given: AuditDetail = {}) => ({
    given: { webhook, ...given },
    state: stateOfWebhook(ports, undefined, webhook),
  })
  const ofOperator = (operator: OperatorId) => ({
    given: { operator },
    state: async (): Promise<AuditDetail> => {
      const found = (await ports.operators.list()).find(({ id }) => id === operator)
      return found === undefined ? {} : { name: found.name, role: found.role, locked: found.locked }
    },
  })
  const ofUser = (account: AccountId, user: UserId) => ({
    account,
    given: { user },
    state: stateOfUser(ports, account, user),
  })
  const ofPrice = (prefix: string, account?: AccountId) => ({
    account,
    given: { prefix },
    state: async (): Promise<AuditDetail> => {
      const prices = await (account === undefined ? ports.prices.table() : ports.prices.of(account))
      return { priceTenths: prices?.get(prefix) }
    },
  })
  return {
    openAccount: ({ password, trial, ...given }) => ({
      given: { ...given, password: password !== undefined, trial: trial && withoutSomeDigits(trial.ownNumber) },
    }),
    changeAccount: ofAccount,
    lockAccount: ofAccount,
    unlockAccount: ofAccount,
    closeAccount: (account, writeOff) => ({
      ...ofAccount(account),
      given: { writeOff },
      told: (closed) => (typeof closed === 'string' ? closed : { ...closed }),
    }),
    setPassword: ofAccount,
    addOperator: (given) => ({ given: { ...given } }),
    lockOperator: ofOperator,
    unlockOperator: ofOperator,
    setOperatorRole: ofOperator,
    setOperatorPassword: ofOperator,
    changeOperatorPassword: ({ name }) => ({ given: { name } }),
    setOperatorFactor: ({ name }) => ({ given: { name } }),
    renewOperatorCodes: ({ name }) => ({ given: { name } }),
    removeOperatorFactor: ({ name }) => ({ given: { name } }),
    resetOperatorFactor: (operator) => ({ given: { operator } }),
    requireAccountFactor: (account, isRequired) => ({
      account,
      given: { isRequired },
      state: async () => ({ isRequired: await ports.secondFactors.isRequired(account) }),
    }),
    resetAccountFactor: (account) => ({ account }),
    actAs: (account) => ({ account, told: (until) => (until === undefined ? 'no-such-account' : { until }) }),
    endActingAs: (account) => ({ account, told: (ended) => (ended === undefined ? 'was-over' : 'done') }),
    offerSignInLink: (account) => ({ account }),
    inviteUser: (account, { email, role }) => ({
      account,
      given: { email, role },
      told: (invited) => (typeof invited === 'string' ? invited : { user: invited.id }),
    }),
    renewUserLink: (account, user) => ({
      ...ofUser(account, user),
      told: (renewed) => (typeof renewed === 'string' ? renewed : 'done'),
    }),
    setUserRole: ofUser,
    lockUser: ofUser,
    unlockUser: ofUser,
    removeUser: ofUser,
    resetUserFactor: ofUser,
    issueApiKey: (account, { operation: _, ...about } = {}) => ({
      account,
      given: { ...about },
      told: (issued) => (typeof issued === 'string' ? issued : { key: issued.id }),
    }),
    revokeApiKey: (key) => ofKey(key),
    restrictApiKey: (key, from) => ofKey(key, { from }),
    topUp: (account, amount, why) => ({ ...ofAccount(account), given: { amountTenths: amount, why } }),
    refundMessage: (message, why, account) => ({ account, given: { message, why } }),
    setPrice: (prefix, price, account) => ofPrice(prefix, account),
    removePrice: ofPrice,
    blockNumber: (number, reason) => ({ given: { number: withoutSomeDigits(number), reason } }),
    blockNumbers: (numbers, reason) => ({ given: { numbers: numbers.length, reason } }),
    unblockNumber: (number, reasons) => ({
      given: { number: withoutSomeDigits(number), reasons },
      told: (removed) => removed,
    }),
    importOptOuts: ({ id }, entries) => ({ account: id, given: { numbers: entries.length } }),
    cancelMessage: (message) => ({ given: { message }, told: (done) => done?.deletion.outcome ?? 'no-such-message' }),
    exportNumber: (number) => ({ given: { number: withoutSomeDigits(number) } }),
    // Not a digit of the number: the log stays, and the record of the erasure has a digest of it.
    eraseNumber: () => ({ told: (erased) => ('erasure' in erased ? { erasure: erased.erasure } : 'held-up') }),
    setCarrierMode: (carrier, mode) => ({ given: { carrier, mode } }),
    decideDoubt: (decision) => ({ given: { decision }, told: (decided) => ({ ...decided }) }),
    dropHistory: () => ({}),
    skipIds: (blocks) => ({ given: { blocks } }),
    assignShortCode: (code, account) => ({ ...ofAccount(account), given: { code } }),
    releaseShortCode: (code) => ({ given: { code } }),
    allowSender: ({ account, ...given }) => ({ account, given: { ...given } }),
    disallowSender: (account, sender) => ({ account, given: { sender } }),
    addWebhook: (account, wanted) => ({
      account,
      given: { ...wanted, url: withoutSecrets(wanted.url) },
      told: (added) => (typeof added === 'string' ? added : { webhook: added.webhook.id }),
    }),
    changeWebhook: (id) => ofWebhook(id),
    rotateWebhookSecret: (id, overlapHours) => ofWebhook(id, { overlapHours }),
    removeWebhook: (id) => ofWebhook(id),
    testWebhook: (id) => ofWebhook(id),
    startReplay: (id, replay) => ofWebhook(id, { ...replay }),
    stopReplay: (id) => ofWebhook(id),
    resealSecrets: () => ({ told: (resealed) => ({ ...resealed }) }),
  } satisfies { readonly [Name in OperatorChange]: ChangeOf<Name> }
}

/** What support may change: nothing that moves credits, decides a price, opens an account or makes an operator. */
const changesBySupport: ReadonlySet<string> = new Set<OperatorChange>([
  'lockAccount',
  'unlockAccount',
  'revokeApiKey',
  'lockUser',
  'unlockUser',
  'actAs',
  'endActingAs',
  'blockNumber',
  'unblockNumber',
  'changeWebhook',
  'testWebhook',
  'startReplay',
  'stopReplay',
  'changeOperatorPassword',
  'setOperatorFactor',
  'renewOperatorCodes',
  'removeOperatorFactor',
])

/** Whether an operator of this role may do what changes something; all may read. */
export const mayDo = (role: OperatorRole, change: keyof BackOffice): boolean =>
  role === 'admin' || changesBySupport.has(change)

/** Somebody asked for a change that is not of the own role. Nothing was done. */
export class NotOfRoleError extends NothingDoneError {}

/**
 * The back office whose changes are recorded as those of `actor`; what only reads is not. A change that the role may
 * not make rejects with a `NotOfRoleError`, with nothing done.
 */
export function auditedBackOffice(
  backOffice: BackOffice,
  ports: AuditedPorts & Pick<Ports, 'auditLog'>,
  actor: AuditActor,
  role: OperatorRole,
): BackOffice {
  const make = changesBy(ports, actor)
  const changes: Readonly<Record<string, (...args: never[]) => Omit<ChangeToMake<never>, 'action'>>> = changesOf(ports)
  const audited = Object.entries(changes).map(([action, change]) => {
    const operation = backOffice[action as OperatorChange] as (...args: never[]) => Promise<unknown>
    const about = (args: never[]) => ({ action, ...change(...args) }) as ChangeToMake<unknown>
    const refuse = () => Promise.reject(new NotOfRoleError(`${action} is not for the role ${role}`))
    return [
      action,
      mayDo(role, action as OperatorChange)
        ? (...args: never[]) => make(about(args), () => operation(...args))
        : refuse,
    ]
  })
  return { ...backOffice, ...(Object.fromEntries(audited) as Pick<BackOffice, OperatorChange>) }
}

/** What a process needs that lets operators in. */
export interface OperatorAccess {
  /** To sign in, and to look who is signed in. */
  readonly signIn: Pick<
    BackOffice,
    'signInOperator' | 'signInNamedOperator' | 'signInOperatorWithCode' | 'findOperatorSession' | 'findActing'
  >
  /** What a person may do who is signed in; changes are recorded under the name, with the address `from`. */
  as(operator: Operator, from: string): BackOffice
}

export function operatorAccess(ports: Ports, settings?: OperatorSettings): OperatorAccess {
  const backOffice = createBackOffice(ports, settings)
  return {
    signIn: backOffice,
    as: ({ name, role }, from) => auditedBackOffice(backOffice, ports, { by: name, from }, role),
  }
}

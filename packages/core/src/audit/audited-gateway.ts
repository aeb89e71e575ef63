import type { Account } from '../accounts/account.ts'
import type { Holder, SignedIn } from '../people/sign-in.ts'
import type { UserId, UserRole } from '../people/users.ts'
import type { Gateway } from '../gateway.ts'
import type { Ports } from '../ports.ts'
import type { WebhookId } from '../webhooks/webhook.ts'
import type { AuditActor, AuditDetail } from './audit-log.ts'
import {
  changesBy,
  NotOfRoleError,
  stateOfUser,
  stateOfWebhook,
  withoutSecrets,
  withoutSomeDigits,
  type ChangeToMake,
  type OperatorChange,
} from './audited-back-office.ts'

type Operation = keyof Gateway

/** What nobody who is signed in asks for, or what only reads. */
type Reading =
  | 'authenticate'
  | 'creditBalance'
  | 'signIn'
  | 'signInWithCode'
  | 'signInByLink'
  | 'findSession'
  | 'listSessions'
  | 'findSecondFactor'
  | 'isSecondFactorRequired'
  | 'listUsers'
  | 'findUser'
  | 'findInvited'
  | 'acceptInvitation'
  | 'listKeys'
  | 'quoteMessages'
  | 'listSent'
  | 'showSent'
  | 'findSent'
  | 'searchSent'
  | 'lastSend'
  | 'listDailySums'
  | 'findBulkSend'
  | 'quoteBulkSend'
  | 'listBulkSends'
  | 'listBulkDrafts'
  | 'bulkOutcomes'
  | 'bulkIds'
  | 'returnedCredits'
  | 'bulkRows'
  | 'sendNextCall'
  | 'listTemplates'
  | 'findTemplate'
  | 'queryStatus'
  | 'listScheduled'
  | 'listSubAccounts'
  | 'listStatement'
  | 'showStatement'
  | 'listReplies'
  | 'listShortCodeMessages'
  | 'listConversations'
  | 'showConversation'
  | 'countUnread'
  | 'listOptOuts'
  | 'listWebhooks'
  | 'showWebhook'
  | 'showReplay'
  | 'listAttempts'

/** What changes something. A new operation of the gateway does not compile until it is below or above. */
export type HolderChange = Exclude<Operation, Reading>

/** Who may do it: whoever has this role, or one before it (`userRoles`). */
const ROLE = {
  endSession: 'reader',
  endOtherSessions: 'reader',
  changePassword: 'reader',
  beginSecondFactor: 'reader',
  setSecondFactor: 'reader',
  renewRecoveryCodes: 'reader',
  removeSecondFactor: 'reader',
  sendMessages: 'sender',
  draftBulkSend: 'sender',
  changeBulkSend: 'sender',
  discardBulkSend: 'sender',
  startBulkSend: 'sender',
  stopBulkSend: 'sender',
  cancelBulkSend: 'sender',
  addTemplate: 'sender',
  changeTemplate: 'sender',
  removeTemplate: 'sender',
  deleteScheduled: 'sender',
  changeScheduled: 'sender',
  takeReplies: 'sender',
  takeShortCodeMessages: 'sender',
  markRead: 'sender',
  addOptOut: 'sender',
  removeOptOut: 'sender',
  transferCredits: 'owner',
  issueKey: 'owner',
  revokeKey: 'owner',
  addWebhook: 'owner',
  changeWebhook: 'owner',
  rotateWebhookSecret: 'owner',
  removeWebhook: 'owner',
  testWebhook: 'owner',
  startReplay: 'owner',
  stopReplay: 'owner',
  inviteUser: 'owner',
  renewUserLink: 'owner',
  setUserRole: 'owner',
  lockUser: 'owner',
  unlockUser: 'owner',
  removeUser: 'owner',
  resetUserFactor: 'owner',
} as const satisfies Readonly<Record<HolderChange, UserRole>>

const rank: Readonly<Record<UserRole, number>> = { owner: 2, sender: 1, reader: 0 }

/** What somebody at the portal may do: the role of a user, or an operator's who looks on and changes nothing. */
export type HolderRole = UserRole | 'onlooker'

/** Whether somebody of this role may make this change; all may read. */
export const mayHolder = (role: HolderRole, change: HolderChange): boolean =>
  role !== 'onlooker' && rank[role] >= rank[ROLE[change]]

/** Of whoever is signed in: with the account's own password an owner's. */
export const roleOf = ({ user }: Pick<SignedIn, 'user'>): UserRole => user?.role ?? 'owner'

type About<Name extends HolderChange> = (
  ...args: Parameters<Gateway[Name]>
) => Omit<ChangeToMake<Awaited<ReturnType<Gateway[Name]>>>, 'action' | 'account'>

type AuditedPorts = Pick<Ports, 'auditLog' | 'users' | 'webhooks'>

/** What is recorded of each; `false`: nothing, since it changes nothing that is of use to others. */
const changesOf = (ports: AuditedPorts) => {
  const ofWebhook = ({ id: account }: Account, webhook: WebhookId, given: AuditDetail = {}) => ({
    given: { webhook, ...given },
    state: stateOfWebhook(ports, account, webhook),
  })
  const ofUser = ({ id: account }: Account, user: UserId) => ({
    given: { user },
    state: stateOfUser(ports, account, user),
  })
  return {
    endSession: false,
    endOtherSessions: (_holder) => ({}),
    changePassword: () => ({ told: (changed) => (typeof changed === 'string' ? changed : 'token' in changed) }),
    beginSecondFactor: false,
    setSecondFactor: () => ({ told: (set) => (typeof set === 'string' ? set : 'recoveryCodes' in set) }),
    renewRecoveryCodes: () => ({ told: (set) => (typeof set === 'string' ? set : 'recoveryCodes' in set) }),
    removeSecondFactor: () => ({ told: (removed) => (typeof removed === 'string' ? removed : false) }),
    // What was sent is in the list of messages, and what it cost in the ledger; what is not sent yet changes nothing.
    sendMessages: false,
    draftBulkSend: false,
    changeBulkSend: false,
    discardBulkSend: false,
    takeReplies: false,
    takeShortCodeMessages: false,
    markRead: false,
    startBulkSend: (_account, send) => ({ given: { send } }),
    stopBulkSend: (_account, send) => ({ given: { send } }),
    cancelBulkSend: (_account, send) => ({ given: { send } }),
    deleteScheduled: (_account, ids) => ({
      given: { messages: ids.length, first: ids[0] },
      told: (deletions) => ({ deleted: deletions.filter(({ outcome }) => outcome === 'deleted').length }),
    }),
    changeScheduled: (_account, message, { due }) => ({ given: { message, due }, told: ({ outcome }) => outcome }),
    addTemplate: (_account, { name }) => ({
      given: { name },
      told: (added) => (typeof added === 'string' ? added : { template: added }),
    }),
    changeTemplate: (_account, template, { name }) => ({ given: { template, name } }),
    removeTemplate: (_account, template) => ({ given: { template } }),
    addOptOut: (_account, number) => ({ given: { number: withoutSomeDigits(number) } }),
    removeOptOut: (_account, number) => ({ given: { number: withoutSomeDigits(number) } }),
    transferCredits: (_account, transfer) => ({ given: { ...transfer } }),
    issueKey: (_account, { operation: _, ...about }) => ({
      given: { ...about },
      told: (issued) => (typeof issued === 'string' ? issued : { key: issued.id }),
    }),
    revokeKey: (_account, key) => ({ given: { key } }),
    addWebhook: (_account, wanted) => ({
      given: { ...wanted, url: withoutSecrets(wanted.url) },
      told: (added) => (typeof added === 'string' ? added : { webhook: added.webhook.id }),
    }),
    changeWebhook: (account, id) => ofWebhook(account, id),
    rotateWebhookSecret: (account, id, overlapHours) => ofWebhook(account, id, { overlapHours }),
    removeWebhook: (account, id) => ofWebhook(account, id),
    testWebhook: (account, id) => ofWebhook(account, id),
    startReplay: (account, id, replay) => ofWebhook(account, id, { ...replay }),
    stopReplay: (account, id) => ofWebhook(account, id),
    inviteUser: (_account, { email, role }) => ({
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
  } satisfies { readonly [Name in HolderChange]: About<Name> | false }
}

type Changes = ReturnType<typeof changesOf>

/** Changes by account holders of which an entry is made; of the others the messages or the ledger tell. */
export type RecordedHolderChange =
  { readonly [Name in keyof Changes]: Changes[Name] extends false ? never : Name }[keyof Changes] | 'sendMessages'

/**
 * Names of the changes that are recorded: operations of the back office, those of people who are signed in for an
 * account, and what only the command line does.
 */
export type AuditAction = OperatorChange | RecordedHolderChange | 'acceptInvitation' | 'applyCarriers' | 'watchCarrier'

/** Who is at the portal, and from where. */
export interface HolderActor extends Holder, AuditActor {
  readonly role: HolderRole
}

/**
 * The gateway of somebody who is signed in: a change that is not of the role rejects with a `NotOfRoleError`, with
 * nothing done, and the others are recorded as those of the actor.
 */
function auditedGateway(gateway: Gateway, ports: AuditedPorts, { account, by, from, role }: HolderActor): Gateway {
  const make = changesBy(ports, { by, from })
  const changes: Readonly<Record<string, false | ((...args: never[]) => Omit<ChangeToMake<never>, 'action'>)>> =
    changesOf(ports)
  const audited = Object.entries(changes).map(([action, change]) => {
    const operation = gateway[action as HolderChange] as (...args: never[]) => Promise<unknown>
    const refuse = () => Promise.reject(new NotOfRoleError(`${action} is not for the role ${role}`))
    const record = (...args: never[]) => {
      const about = { action, account: account.id, ...(change !== false && change(...args)) } as ChangeToMake<unknown>
      return make(about, () => operation(...args))
    }
    if (!mayHolder(role, action as HolderChange)) return [action, refuse]
    return [action, change === false ? operation : record]
  })
  return { ...gateway, ...(Object.fromEntries(audited) as Pick<Gateway, HolderChange>) }
}

/** What a process needs that lets account holders and their users in. */
export interface HolderAccess {
  /** What a person may do who is signed in; changes are recorded under the name, with the address `from`. */
  as(signedIn: Pick<SignedIn, 'account' | 'user'> & { readonly role: HolderRole }, from: string): Gateway
  /** Chooses a password by a link, recorded as a change of the user. */
  accept(link: string, password: string, from: string): ReturnType<Gateway['acceptInvitation']>
}

export const holderAccess = (ports: AuditedPorts, gateway: Gateway): HolderAccess => ({
  as: ({ account, user, role }, from) => {
    // Names of operators have no spaces: nobody is taken for another.
    const by = user === undefined ? `account ${account.login}` : `user ${user.email}`
    return auditedGateway(gateway, ports, { account, user, by, from, role })
  },
  async accept(link, password, from) {
    const user = await gateway.findInvited(link)
    if (user === undefined) return 'over'
    const actor = { by: `user ${user.email}`, from }
    const change = { action: 'acceptInvitation' as const, account: user.account }
    return changesBy(ports, actor)(change, () => gateway.acceptInvitation(link, password))
  },
})

import type { AuditAction } from '@gateway/core'
import type { AuditEntry, ListedChange } from '@gateway/core/audit'
import { credits, type Credits } from '@gateway/core/credits'
import type { Suppression } from '@gateway/core/suppressions'
import type { Instant } from '@gateway/core/time'

/** Labels of all recorded changes. A change without a label does not compile. */
const ACTION = {
  acceptInvitation: 'Accept an invitation',
  actAs: 'View the pages of the account',
  addOperator: 'Add an operator',
  addSmppCredential: 'Add an SMPP credential',
  addOptOut: 'Add an opt-out',
  addTemplate: 'Add a template',
  addWebhook: 'Add a webhook',
  allowSender: 'Allow a sender',
  applyCarriers: 'Apply a list of carriers',
  assignShortCode: 'Assign a code',
  blockNumber: 'Block a number',
  blockNumbers: 'Block numbers',
  cancelBulkSend: 'Cancel a send',
  cancelMessage: 'Cancel a message',
  changeAccount: 'Change the account',
  changeConnection: 'Change the connection to a provider',
  changeOperatorPassword: 'Change the own password',
  changePassword: 'Change the password',
  changeScheduled: 'Change a scheduled message',
  changeSmppCredential: 'Change an SMPP credential',
  changeTemplate: 'Change a template',
  changeWebhook: 'Change a webhook',
  closeAccount: 'Close the account',
  connectProvider: 'Connect a provider',
  deleteScheduled: 'Cancel scheduled messages',
  disallowSender: 'Disallow a sender',
  decideDoubt: 'Decide about messages in doubt',
  dropHistory: 'Drop old history',
  endActingAs: 'Stop viewing the account',
  endOtherSessions: 'End the other sessions',
  eraseNumber: 'Erase a number',
  exportNumber: 'Export the data of a number',
  importOptOuts: 'Import opt-outs',
  inviteUser: 'Invite a user',
  issueApiKey: 'Issue an API key',
  issueKey: 'Make an own API key',
  lockAccount: 'Lock the account',
  lockOperator: 'Lock an operator',
  lockUser: 'Lock a user',
  offerSignInLink: 'Make a one-time sign-in link',
  openAccount: 'Open an account',
  refundMessage: 'Return the credits of a message',
  releaseShortCode: 'Release a code',
  removeConnection: 'Remove the connection to a provider',
  removeOperatorFactor: 'Remove the own second factor',
  removeOptOut: 'Remove an opt-out',
  removePrice: 'Remove a price',
  removeSecondFactor: 'Remove the second factor',
  removeSmppCredential: 'Remove an SMPP credential',
  removeTemplate: 'Remove a template',
  removeUser: 'Remove a user',
  removeWebhook: 'Remove a webhook',
  renewOperatorCodes: 'Renew the own recovery codes',
  renewRecoveryCodes: 'Renew the recovery codes',
  renewUserLink: 'Renew the link of a user',
  requireAccountFactor: 'Require a second factor',
  resealSecrets: 'Seal secrets with the present key',
  resetAccountFactor: 'Reset the second factor',
  resetOperatorFactor: 'Reset the second factor of an operator',
  resetUserFactor: 'Reset the second factor of a user',
  restrictApiKey: 'Restrict an API key',
  revokeApiKey: 'Revoke an API key',
  revokeKey: 'Revoke an own API key',
  rotateSmppCredential: 'Change the password of an SMPP credential',
  rotateWebhookSecret: 'Change the secret of a webhook',
  sendMessages: 'Send messages',
  setCallingCode: 'Set the country of numbers',
  setCarrierMode: 'Set the mode of a carrier',
  setOperatorFactor: 'Set up the own second factor',
  setOperatorPassword: 'Set the password of an operator',
  setOperatorRole: 'Set the role of an operator',
  setPassword: 'Set the password',
  setPrice: 'Set a price',
  setRepliesBy: 'Choose how replies are delivered',
  setSecondFactor: 'Set up the second factor',
  setUserRole: 'Set the role of a user',
  skipIds: 'Skip message ids',
  startBulkSend: 'Start a send',
  startReplay: 'Start a replay of a webhook',
  stopBulkSend: 'Stop a send',
  stopReplay: 'Stop a replay of a webhook',
  testConnection: 'Test the connection to a provider',
  testWebhook: 'Test a webhook',
  topUp: 'Add or take credits',
  transferCredits: 'Transfer credits',
  unblockNumber: 'Unblock a number',
  unlockAccount: 'Unlock the account',
  unlockOperator: 'Unlock an operator',
  unlockUser: 'Unlock a user',
  watchCarrier: 'Watch the traffic of a carrier',
} as const satisfies Record<AuditAction, string>

/** Returns the action with this name or with this label, in any letter case, or undefined if no action has it. */
export const auditActionOf = (text: string): AuditAction | undefined =>
  (Object.keys(ACTION) as AuditAction[]).find((action) =>
    [action, ACTION[action]].some((name) => name.toLowerCase() === text.trim().toLowerCase()),
  )

type Kind = 'credits' | 'wholeCredits' | 'time' | 'list' | 'plain'

/** Labels and kinds of recorded values, by name. Values without an entry are shown as they are. */
const VALUE: Readonly<Record<string, readonly [label: string, kind: Kind]>> = {
  amountTenths: ['credits', 'credits'],
  balanceTenths: ['balance', 'credits'],
  priceTenths: ['price', 'credits'],
  balance: ['balance', 'credits'],
  credits: ['credits', 'credits'],
  refunded: ['returned', 'credits'],
  writtenOff: ['written off', 'credits'],
  quantity: ['credits', 'wholeCredits'],
  due: ['due', 'time'],
  expires: ['expires', 'time'],
  until: ['until', 'time'],
  since: ['since', 'time'],
  isRequired: ['required', 'plain'],
  first: ['first message', 'plain'],
}

/** Labels and kinds for single actions in which a name has another meaning. */
const VALUE_OF: Readonly<Partial<Record<AuditAction, typeof VALUE>>> = {
  blockNumber: { reason: ['reason', 'list'] },
  blockNumbers: { reason: ['reason', 'list'] },
  unblockNumber: { reasons: ['reasons', 'list'] },
  startReplay: { from: ['from', 'time'], to: ['to', 'time'] },
  transferCredits: { from: ['from account', 'plain'], to: ['to account', 'plain'] },
}

/** Labels and kinds for actions whose outcome is a single value without a name. */
const OUTCOME_OF: Readonly<Partial<Record<AuditAction, readonly [label: string, kind: Kind]>>> = {
  addOperator: ['operator', 'plain'],
  applyCarriers: ['version', 'plain'],
  blockNumbers: ['numbers added', 'plain'],
  cancelBulkSend: ['messages cancelled', 'plain'],
  changeConnection: ['version', 'plain'],
  connectProvider: ['version', 'plain'],
  endOtherSessions: ['sessions ended', 'plain'],
  importOptOuts: ['numbers added', 'plain'],
  openAccount: ['account', 'plain'],
  removeConnection: ['version', 'plain'],
  topUp: ['balance', 'credits'],
  unblockNumber: ['', 'list'],
}

/** Functions that format amounts and times for the page that shows the words. */
export interface AuditStyle {
  readonly credits: (amount: Credits) => string
  readonly time: (at: Instant) => string
}

export interface AuditWords {
  readonly change: string
  /** Arguments of the change; empty if it had none. */
  readonly input: string
  /** Outcome of the change, and the values that it changed. */
  readonly outcome: string
}

type Detail = Readonly<Record<string, unknown>>

/** Returns the parsed JSON of an entry, or an empty record if there is no entry. */
export const auditRecord = (entry: AuditEntry | undefined): Detail =>
  entry === undefined ? {} : (JSON.parse(entry.record) as Detail)

/** Lists of numbers by the words that the command line and the portal use for them. */
const LIST: Readonly<Record<string, string>> = { blacklist: 'blacklisted' } satisfies Partial<
  Record<Suppression, string>
>

/** Returns a recorded change in words. Formats amounts and times in the style of the page. */
export function auditWords({ begun, ended }: ListedChange, style: AuditStyle): AuditWords {
  const { action, given: args } = auditRecord(begun)
  const words = wordsFor(typeof action === 'string' ? action : '', style)
  return {
    change: words.change,
    input: words.all(args ?? {}, ', '),
    outcome: ended === undefined ? 'unknown' : words.outcome(auditRecord(ended)),
  }
}

/** Returns a name such as `keysRevoked` or `no-such-account` as separate words. */
const spaced = (name: string): string =>
  name.replaceAll('-', ' ').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/**
 * Returns true for a refusal or a mode of core, whose words are joined by hyphens. Sentences and addresses are shown as
 * they are.
 */
const isWord = (text: string): boolean => /^[a-z]+(?:-[a-z]+)+$/.test(text)

function wordsFor(action: string, style: AuditStyle) {
  const known = Object.hasOwn(ACTION, action) ? (action as AuditAction) : undefined
  const own = known === undefined ? undefined : VALUE_OF[known]

  const of = (name: string) => (own && Object.hasOwn(own, name) ? own[name] : VALUE[name]) ?? [spaced(name), 'plain']
  const written = (value: unknown, kind: string): string => {
    if (value === null || value === undefined) return 'none'
    if (typeof value === 'boolean') return value ? 'yes' : 'no'
    if (typeof value === 'string' && kind === 'list') return LIST[value] ?? spaced(value)
    if (typeof value === 'string') return isWord(value) ? spaced(value) : value
    if (typeof value === 'number' && kind === 'credits') return style.credits(credits(value))
    if (typeof value === 'number' && kind === 'wholeCredits') return style.credits(credits(value * 10))
    if (typeof value === 'number' && kind === 'time') return style.time(value as Instant)
    if (typeof value === 'number') return String(value)
    if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map((one) => written(one, kind)).join(', ')
    return all(value, ', ')
  }
  const named = (name: string, value: unknown): string => {
    const [label, kind] = of(name)
    return `${label} ${written(value, kind)}`
  }
  const all = (values: object, between: string): string =>
    Object.entries(values)
      .filter(([, value]) => !Array.isArray(value) || value.length > 0)
      .map(([name, value]) => named(name, value))
      .join(between)

  const outcome = ({ outcome: became, changed }: Detail): string => {
    const differs = Object.entries((changed ?? {}) as Readonly<Record<string, readonly [unknown, unknown]>>)
    const changes = differs.map(([name, [before, after]]) => {
      const [, kind] = of(name)
      return `${named(name, before)} to ${written(after, kind)}`
    })
    return changes.length > 0 ? changes.join('; ') : bare(became)
  }
  const bare = (became: unknown): string => {
    if (became === true) return 'done'
    if (became === false) return 'nothing to do'
    const [label, kind] = (known === undefined ? undefined : OUTCOME_OF[known]) ?? ['', 'plain']
    return typeof became === 'number' && label !== '' ? `${label} ${written(became, kind)}` : written(became, kind)
  }
  return { change: known === undefined ? spaced(action) : ACTION[known], all, outcome }
}

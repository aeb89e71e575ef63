import type { Account, AccountId } from '../accounts/account.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import { isPrefix } from '../credits/prices.ts'
import { septets } from './body.ts'
import type { Msisdn, SenderAddress } from './msisdn.ts'

/** Short or long code and the account that owns it. */
export interface AssignedCode {
  readonly code: SenderAddress
  readonly account: AccountId
}

/** Maximum length of a name in septets, which is the size of an address field (3GPP TS 23.040, 9.1.2.5). */
const nameSeptetsMax = 11

/**
 * Parses and trims the sender of a send (ruling 1.27): 3 to 15 digits, or a name of 1 to 11 GSM 7-bit characters with
 * at least one letter and no control character. Returns undefined if it is missing or blank.
 */
export function readSender(text: string | null | undefined): SenderAddress | undefined | 'unusable' {
  const sender = text?.trim() ?? ''
  if (sender === '') return undefined
  return /^[0-9]{3,15}$/.test(sender) || isName(sender) ? (sender as SenderAddress) : 'unusable'
}

const isName = (text: string): boolean =>
  /\p{L}/u.test(text) && !/\p{Cc}/u.test(text) && (septets(text) ?? Infinity) <= nameSeptetsMax

/** Returns true for a name, to which nobody can reply. */
export const isNameOfSender = (sender: SenderAddress): boolean => !/^[0-9]+$/.test(sender)

/** Sender that an account may use for its messages (ruling 1.27). */
export interface AllowedSender {
  readonly account: AccountId
  readonly sender: SenderAddress
  /** Number prefixes of the destinations for which the sender may be used; empty: all. */
  readonly destinations: readonly string[]
  /**
   * Prefixes of the numbers for which this is the account's default sender. The empty prefix '' matches every number,
   * so it applies where no longer prefix does.
   */
  readonly defaultFor: readonly string[]
  /** Carriers with which the sender is registered; empty: all. */
  readonly carriers: readonly CarrierId[]
  /** Handling of a message whose destination or carrier does not allow the sender. */
  readonly otherwise: 'replace' | 'refuse'
}

const isAllowedTo = ({ destinations }: AllowedSender, to: Msisdn): boolean =>
  destinations.length === 0 || destinations.some((prefix) => to.startsWith(prefix))

/** Returns true if the account may use the sender for some destination: a code of its own or an allowed sender. */
export const mayName = (
  { shortCodes }: Pick<Account, 'shortCodes'>,
  allowed: readonly AllowedSender[],
  sender: SenderAddress,
): boolean => shortCodes.includes(sender) || allowed.some((one) => one.sender === sender)

/**
 * Returns the default sender for a number: the one with the longest matching prefix, or the first if several have it.
 */
function defaultSender(allowed: readonly AllowedSender[], to: Msisdn): SenderAddress | undefined {
  let best: { readonly sender: SenderAddress; readonly length: number } | undefined
  for (const one of allowed) {
    if (!isAllowedTo(one, to)) continue
    for (const { length } of one.defaultFor.filter((prefix) => to.startsWith(prefix)))
      if (length > (best?.length ?? -1)) best = { sender: one.sender, length }
  }
  return best?.sender
}

/**
 * Returns the sender address of a message to this number, for an account that may use `named`. Undefined means that one
 * of `sendersOf` is used. `refused` means that the destination does not allow the sender and that the account has
 * chosen not to have it replaced.
 */
export function senderFor(
  allowed: readonly AllowedSender[],
  named: SenderAddress | undefined,
  to: Msisdn,
): SenderAddress | undefined | 'refused' {
  const settings = named === undefined ? undefined : allowed.find(({ sender }) => sender === named)
  if (named !== undefined && (settings === undefined || isAllowedTo(settings, to))) return named
  return settings?.otherwise === 'refuse' ? 'refused' : defaultSender(allowed, to)
}

/** Sender of a message if it is sent over a certain carrier. */
export interface SenderOver {
  /** Undefined: the carrier's own sender. */
  readonly from: SenderAddress | undefined
  /**
   * Carriers with which the sender is registered. Defined only if this carrier is not among them and the account has
   * chosen not to have the sender replaced, so that the message must go over one of them.
   */
  readonly onlyOver: readonly CarrierId[] | undefined
}

/** Returns the sender address to submit to this carrier for a message from `from`. */
export function senderOver(
  carrier: CarrierId,
  allowed: readonly AllowedSender[],
  from: SenderAddress | undefined,
): SenderOver {
  const settings = allowed.find(({ sender }) => sender === from)
  if (settings === undefined || settings.carriers.length === 0 || settings.carriers.includes(carrier))
    return { from, onlyOver: undefined }
  return settings.otherwise === 'refuse'
    ? { from, onlyOver: settings.carriers }
    : { from: undefined, onlyOver: undefined }
}

/** Codes of accounts and allowed senders. */
export interface Senders {
  /**
   * Assigns a code. Visible to every process within 5 seconds, like changes of accounts. 'taken': another account owns
   * it; 'already': this account owns it.
   */
  assign(code: SenderAddress, account: AccountId): Promise<'assigned' | 'already' | 'taken' | 'no-such-account'>
  /** Releases a code. Returns false if nobody owns it. Messages sent from it can still be answered. */
  release(code: SenderAddress): Promise<boolean>
  /** Lists the assigned codes, by code as text. */
  assigned(): Promise<readonly AssignedCode[]>
  /** Allows a sender, or replaces its settings. Visible like `assign`. */
  allow(sender: AllowedSender): Promise<'added' | 'changed' | 'no-such-account'>
  /** Disallows a sender. Returns false if it was not allowed. Messages accepted before keep it. */
  disallow(account: AccountId, sender: SenderAddress): Promise<boolean>
  /** Lists all allowed senders, by account, then sender as text. */
  allowed(): Promise<readonly AllowedSender[]>
  /** Lists the allowed senders of one account, by sender as text. */
  allowedTo(account: AccountId): Promise<readonly AllowedSender[]>
}

/** Returns the possible sender addresses of an account: its first code, else the operator's pool. */
export const sendersOf = (account: Account, pool: readonly SenderAddress[]): readonly SenderAddress[] =>
  account.shortCodes.length > 0 ? account.shortCodes.slice(0, 1) : pool

/**
 * Rotates the addresses of an order by account, so that accounts start at different addresses and all addresses are
 * used equally.
 */
export const preferredBy = <Sender>(by: AccountId, senders: readonly Sender[]): readonly Sender[] =>
  senders.map((_, i) => senders[(by + i) % senders.length] as Sender)

/** Allows an account to use a sender, or changes its settings. A default applies only where the sender is allowed. */
export const allowSender =
  (ports: { readonly senders: Senders }) =>
  async (sender: AllowedSender): Promise<'added' | 'changed' | 'no-such-account' | 'invalid-prefix' | 'unwritable'> => {
    const { destinations, defaultFor } = sender
    if (![...destinations, ...defaultFor].every(isPrefix)) return 'invalid-prefix'
    return isWritable(sender.sender) ? ports.senders.allow(sender) : 'unwritable'
  }

/**
 * Returns true if a sender consists of printable ASCII characters. Carriers read a sender as ASCII (SMPP 3.4, 3.1),
 * where the other characters of GSM 7-bit mean something else.
 */
const isWritable = (sender: SenderAddress): boolean => /^[ -~]*$/.test(sender)

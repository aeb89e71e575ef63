import type { Account, AccountId } from '../accounts/account.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import { isPrefix } from '../credits/prices.ts'
import { septets } from './body.ts'
import type { Msisdn, SenderAddress } from './msisdn.ts'

/** A short or long code and the account whose messages leave from it. */
export interface AssignedCode {
  readonly code: SenderAddress
  readonly account: AccountId
}

/** What fits into the address of a message (3GPP TS 23.040, 9.1.2.5). */
const nameSeptetsMax = 11

/**
 * A sender as a send names it, trimmed (ruling 1.27): 3 to 15 digits, or a name: 1 to 11 GSM 7-bit characters, one of
 * them a letter, none a control character. Undefined: none was given, or a blank one.
 */
export function readSender(given: string | null | undefined): SenderAddress | undefined | 'unusable' {
  const sender = given?.trim() ?? ''
  if (sender === '') return undefined
  return /^[0-9]{3,15}$/.test(sender) || isName(sender) ? (sender as SenderAddress) : 'unusable'
}

const isName = (text: string): boolean =>
  /\p{L}/u.test(text) && !/\p{Cc}/u.test(text) && (septets(text) ?? Infinity) <= nameSeptetsMax

/** A name, to which nobody can reply. */
export const isNameOfSender = (sender: SenderAddress): boolean => !/^[0-9]+$/.test(sender)

/** What an account may name as the sender of its messages (ruling 1.27). */
export interface AllowedSender {
  readonly account: AccountId
  readonly sender: SenderAddress
  /** How the numbers begin that it may be used for; none: all. */
  readonly destinations: readonly string[]
  /** How the numbers begin for which it is used where a send names none; '': all that begin otherwise. */
  readonly defaultFor: readonly string[]
  /** The carriers that it is registered with; none: all. */
  readonly carriers: readonly CarrierId[]
  /** What becomes of a message where its destination or its carrier does not allow it. */
  readonly otherwise: 'replace' | 'refuse'
}

const isAllowedTo = ({ destinations }: AllowedSender, to: Msisdn): boolean =>
  destinations.length === 0 || destinations.some((prefix) => to.startsWith(prefix))

/** Whether the account may name it at all: a code of its own, or one that it was allowed. */
export const mayName = (
  { shortCodes }: Pick<Account, 'shortCodes'>,
  allowed: readonly AllowedSender[],
  sender: SenderAddress,
): boolean => shortCodes.includes(sender) || allowed.some((one) => one.sender === sender)

/** Of the defaults of the account the one with the longest prefix; of several the first. */
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
 * What a message to this number leaves from, where the account may name `named`. Undefined: one of `sendersOf`.
 * Refused: the destination does not allow it, and the account wants no other.
 */
export function senderFor(
  allowed: readonly AllowedSender[],
  named: SenderAddress | undefined,
  to: Msisdn,
): SenderAddress | undefined | 'refused' {
  const its = named === undefined ? undefined : allowed.find(({ sender }) => sender === named)
  if (named !== undefined && (its === undefined || isAllowedTo(its, to))) return named
  return its?.otherwise === 'refuse' ? 'refused' : defaultSender(allowed, to)
}

/** The sender of a message over one carrier. */
export interface SenderOver {
  /** Undefined: the carrier's own. */
  readonly from: SenderAddress | undefined
  /** It is not registered there, and the account wants no other: these carriers know it. */
  readonly onlyOver: readonly CarrierId[] | undefined
}

/** What this carrier is given as the sender of a message from `from`. */
export function senderOver(
  carrier: CarrierId,
  allowed: readonly AllowedSender[],
  from: SenderAddress | undefined,
): SenderOver {
  const its = allowed.find(({ sender }) => sender === from)
  if (its === undefined || its.carriers.length === 0 || its.carriers.includes(carrier))
    return { from, onlyOver: undefined }
  return its.otherwise === 'refuse' ? { from, onlyOver: its.carriers } : { from: undefined, onlyOver: undefined }
}

/** Which codes are whose, and who may name which senders. */
export interface Senders {
  /**
   * Seen by every process within 5 seconds, as changes of accounts are. 'taken': another account has it; 'already':
   * this one.
   */
  assign(code: SenderAddress, account: AccountId): Promise<'assigned' | 'already' | 'taken' | 'no-such-account'>
  /** False: nobody has it. What was sent from it can still be answered. */
  release(code: SenderAddress): Promise<boolean>
  /** Every code that an account has, by code as text. */
  assigned(): Promise<readonly AssignedCode[]>
  /** Replaces what was said of this sender of the account; seen as `assign` is. */
  allow(sender: AllowedSender): Promise<'added' | 'changed' | 'no-such-account'>
  /** False: the account was not allowed it. What was accepted with it keeps it. */
  disallow(account: AccountId, sender: SenderAddress): Promise<boolean>
  /** All that are allowed, by account, then sender as text. */
  allowed(): Promise<readonly AllowedSender[]>
  /** Those of one account, in the same order. */
  allowedTo(account: AccountId): Promise<readonly AllowedSender[]>
}

/** The addresses that a message of the account may leave from: its first code, else the operator's pool. */
export const sendersOf = (account: Account, pool: readonly SenderAddress[]): readonly SenderAddress[] =>
  account.shortCodes.length > 0 ? account.shortCodes.slice(0, 1) : pool

/**
 * The addresses of an order in the order in which its account prefers them: each begins at another one, so that all are
 * used as much.
 */
export const preferredBy = <Sender>(by: AccountId, senders: readonly Sender[]): readonly Sender[] =>
  senders.map((_, i) => senders[(by + i) % senders.length] as Sender)

/** Lets an account name a sender, or changes how; a default counts where it is allowed. */
export const allowSender =
  (ports: { readonly senders: Senders }) =>
  async (sender: AllowedSender): Promise<'added' | 'changed' | 'no-such-account' | 'invalid-prefix' | 'unwritable'> => {
    const { destinations, defaultFor } = sender
    if (![...destinations, ...defaultFor].every(isPrefix)) return 'invalid-prefix'
    return isWritable(sender.sender) ? ports.senders.allow(sender) : 'unwritable'
  }

/**
 * Carriers take a sender as ASCII (SMPP 3.4, 3.1): the other characters of GSM 7-bit would be read as something else.
 */
const isWritable = (sender: SenderAddress): boolean => /^[ -~]*$/.test(sender)

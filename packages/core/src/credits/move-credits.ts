import { accountId, may, type Account, type AccountId } from '../accounts/account.ts'
import { limits } from '../limits.ts'
import type { MessageId } from '../messages/message-id.ts'
import type { Ports } from '../ports.ts'
import {
  isAnswer,
  onceAtATime,
  type ClientRequest,
  type FirstAnswer,
  type IdempotencyKey,
} from '../client-requests/client-requests.ts'
import { credits, type Credits } from './credits.ts'
import type { Period, Refunded, RefundRefusal, Transfer, TransferFailure } from './ledger.ts'
import type { Movement } from './movement.ts'
import type { StatementPage, StatementPlace } from './statement-page.ts'

/** Returns the present balance. Throws if the account does not exist; the gateway never deletes one. */
export const creditBalance =
  (ports: Pick<Ports, 'ledger'>) =>
  async (id: AccountId): Promise<Credits> => {
    const balance = await ports.ledger.balance(id)
    if (balance === undefined) throw new Error(`account ${id} has no balance`)
    return balance
  }

/**
 * Lists the movements of an account, or of all accounts one after the other, within the period, oldest first, in pages
 * (`Ledger.movements`). Lists nothing for an unknown account.
 */
export const listMovements =
  (ports: Pick<Ports, 'ledger'>) =>
  (of: AccountId | 'all', period: Period = {}): AsyncIterable<readonly Movement[]> =>
    ports.ledger.movements(of, period, limits.statusDays)

/** Returns the lines of an account's statement within the period, the oldest first (`Ledger.statement`). */
export const listStatement =
  (ports: Pick<Ports, 'ledger'>) =>
  (account: Pick<Account, 'id'>, period: Period): AsyncIterable<readonly Movement[]> =>
    ports.ledger.statement(account.id, period, limits.statusDays)

/** Returns a page of an account's statement within the period (`Ledger.statementPage`). */
export const showStatement =
  (ports: Pick<Ports, 'ledger'>) =>
  (account: Pick<Account, 'id'>, period: Period, place: StatementPlace): Promise<StatementPage> =>
    ports.ledger.statementPage(account.id, period, limits.statusDays, place)

/**
 * Grants credits, or takes credits back with a negative amount, records the reason in the ledger and returns the new
 * balance. With an `operation` (a UUID), repetitions have no further effect.
 */
export const topUp =
  (ports: Pick<Ports, 'ledger' | 'clock'>) =>
  async (
    id: AccountId,
    amount: Credits,
    why: string,
    operation?: string,
  ): Promise<Credits | 'no-such-account' | 'out-of-range' | 'repeated' | 'no-reason' | 'no-amount'> => {
    if (why.trim() === '') return 'no-reason'
    if (amount === 0) return 'no-amount'
    return ports.ledger.topUp(id, amount, why.trim(), ports.clock.now(), operation)
  }

/**
 * Refunds the charge of one message, at most once (P-2), and records the reason in the ledger. With `of`, refuses a
 * message of another account.
 */
export const refundMessage =
  (ports: Pick<Ports, 'ledger' | 'sentMessages' | 'clock'>) =>
  async (
    message: MessageId,
    why: string,
    of?: AccountId,
  ): Promise<Refunded | RefundRefusal | 'no-reason' | 'other-account'> => {
    if (why.trim() === '') return 'no-reason'
    if (of !== undefined) {
      const trace = await ports.sentMessages.trace(message)
      if (trace === undefined) return 'no-such-message'
      if (trace.account !== of) return 'other-account'
    }
    return ports.ledger.refund({ message, why: why.trim() }, ports.clock.now())
  }

/** Maximum of one transfer, in whole credits (ruling 3.7). */
const quantityMax = 1_000_000_000_000

/** Requested transfer. Its numbers need not be valid account numbers or quantities. */
export interface TransferRequest {
  /** Account numbers without the 'W' prefix. NaN stands for a text that is not a number. */
  readonly from: number
  readonly to: number
  /** Whole credits. NaN stands for a text that is not an integer. */
  readonly quantity: number
}

/**
 * Reason why a transfer is refused. `decide` gives the order of precedence (spec 4.2, transfer results; ruling 3.7).
 */
export type TransferRefusal =
  'invalid-from-account' | 'invalid-to-account' | 'same-account' | 'invalid-quantity' | TransferFailure

/**
 * Moves credits between a main account and its sub accounts, or between two of these sub accounts. A main account may
 * move credits between any two accounts of its family, a sub account only its own credits. Whether a sub account may
 * call it at all is a rule of the interface (rulings 2.13, 3.7). Throws if it is unknown whether the credits moved.
 *
 * With a key the request is executed once, and every repetition within 48 hours receives its result, unless it failed
 * (ruling 1.24). 'another-request': the key belongs to a different request.
 */
export function transferCredits(ports: Pick<Ports, 'accounts' | 'ledger' | 'clientRequests' | 'clock'>) {
  const { ledger, clientRequests, clock } = ports
  const once = onceAtATime<'failed'>()

  async function transferFirst(
    asker: Account,
    order: TransferRequest,
    request: ClientRequest,
  ): Promise<FirstAnswer | 'failed' | 'another-request'> {
    const decided = await decide(ports, asker, order)
    if (typeof decided === 'string') return clientRequests.keep(request, { text: decided })
    const result = await ledger.transferOnce(decided, clock.now(), request)
    // The stored answer is not found if it expired at this moment.
    if (result === 'repeated') return (await clientRequests.find(request)) ?? transferFirst(asker, order, request)
    return result === 'failed' ? result : { text: result }
  }

  function transfer(asker: Account, order: TransferRequest): Promise<'done' | TransferRefusal>
  function transfer(
    asker: Account,
    order: TransferRequest,
    key: IdempotencyKey | undefined,
  ): Promise<'done' | TransferRefusal | 'another-request'>
  async function transfer(asker: Account, order: TransferRequest, key?: IdempotencyKey) {
    if (key === undefined) {
      const decided = await decide(ports, asker, order)
      return typeof decided === 'string' ? decided : ledger.transfer(decided, clock.now())
    }
    const canonical = JSON.stringify(['transfer', order.from, order.to, order.quantity])
    const request = { account: asker.id, key, canonical }
    const answer = await once(request, () => transferFirst(asker, order, request))
    return isAnswer(answer) ? (answer.text as 'done' | TransferRefusal) : answer
  }
  return transfer
}

/** Returns the transfer to make, or the reason why it is refused. */
async function decide(
  ports: Pick<Ports, 'accounts'>,
  asker: Account,
  order: TransferRequest,
): Promise<Transfer | TransferRefusal> {
  const [from, to] = await Promise.all([order.from, order.to].map((number) => familyMember(ports, asker, number)))
  if (from === undefined || (asker.parent !== undefined && from.id !== asker.id)) return 'invalid-from-account'
  if (to === undefined) return 'invalid-to-account'
  if (!may(from, 'transfer') || !may(asker, 'transfer')) return 'from-account-locked'
  if (!may(to, 'transfer')) return 'to-account-locked'
  if (from.id === to.id) return 'same-account'
  const amount = amountOf(order.quantity)
  return amount === undefined ? 'invalid-quantity' : { from: from.id, to: to.id, amount }
}

/**
 * Reads an account from the store. Returns undefined unless it is the caller's main account or one of its sub accounts.
 */
async function familyMember(
  ports: Pick<Ports, 'accounts'>,
  asker: Account,
  number: number,
): Promise<Account | undefined> {
  const id = accountId(number)
  const account = id === undefined ? undefined : (await ports.accounts.find(id))?.account
  const main = asker.parent ?? asker.id
  return account?.id === main || account?.parent === main ? account : undefined
}

const amountOf = (quantity: number): Credits | undefined =>
  Number.isInteger(quantity) && quantity > 0 && quantity <= quantityMax ? credits(quantity * 10) : undefined

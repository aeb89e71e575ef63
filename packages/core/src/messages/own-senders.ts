import type { Account } from '../accounts/account.ts'
import type { Ports } from '../ports.ts'
import type { SenderAddress } from './msisdn.ts'
import { isNameOfSender, type AllowedSender } from './senders.ts'

/** Sender that an account may choose for a send. */
export interface OwnSender {
  readonly sender: SenderAddress
  /** False for a name, to which nobody can reply. */
  readonly isNumber: boolean
  /** Number prefixes of the destinations for which it may be used; empty: all. */
  readonly destinations: readonly string[]
}

export interface OwnSenders {
  /** Codes of the account in order of assignment, then the other allowed senders. */
  readonly senders: readonly OwnSender[]
  /**
   * Sender of messages for which none is chosen and no prefix of `defaults` matches. Undefined: a number of the
   * operator.
   */
  readonly usual: SenderAddress | undefined
  /** Default senders of the destinations with these prefixes. The longest matching prefix applies. */
  readonly defaults: readonly { readonly prefix: string; readonly sender: SenderAddress }[]
}

/** A default for all numbers applies only to the destinations for which the sender is allowed. */
const defaultsOf = ({ sender, defaultFor, destinations }: AllowedSender): OwnSenders['defaults'] =>
  defaultFor
    .flatMap((prefix) => (prefix === '' && destinations.length > 0 ? destinations : [prefix]))
    .map((prefix) => ({ prefix, sender }))

/** Lists the senders that an account may choose, and those that apply if it chooses none (ruling 1.27). */
export const listOwnSenders =
  ({ senders }: Pick<Ports, 'senders'>) =>
  async ({ id, shortCodes }: Account): Promise<OwnSenders> => {
    const allowed = await senders.allowedTo(id)
    const all = [...new Set([...shortCodes, ...allowed.map(({ sender }) => sender)])]
    const defaults = allowed.flatMap(defaultsOf)
    return {
      senders: all.map((sender) => {
        const { destinations = [] } = allowed.find((one) => one.sender === sender) ?? {}
        return { sender, isNumber: !isNameOfSender(sender), destinations }
      }),
      usual: defaults.find(({ prefix }) => prefix === '')?.sender ?? shortCodes[0],
      defaults: defaults.filter(({ prefix }) => prefix !== ''),
    }
  }

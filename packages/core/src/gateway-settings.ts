import type { AccountActivity } from './account/account-rates.ts'
import { takenMaxDefault } from './inbox/take-inbox.ts'
import { defaultSenders, type SenderAddress } from './message/sender-address.ts'

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

import type { AccountActivity } from './accounts/account-rates.ts'
import { returnOnceMaxDefault } from './inbox/take-inbox.ts'
import { contactDaysDefault } from './messages/drop-history.ts'
import { defaultSenders, type SenderAddress } from './messages/msisdn.ts'
import type { OperatorSettings } from './people/operator-sign-in.ts'

/** Settings of an operator for all accounts, and an observer of their use. */
export interface GatewaySettings {
  /** Sender addresses of accounts without a code; at least one. */
  readonly senders: readonly SenderAddress[]
  /** Maximum number of messages that one return-once call returns (ruling 1.20). */
  readonly returnOnceMax: number
  /** Notified of requests and accepted messages. */
  readonly activity?: AccountActivity | undefined
  /** Maximum number of SMPP parts of one account that wait for others (ruling 5.2). Default: 10 000. */
  readonly waitingPartsMax?: number | undefined
}

export const gatewayDefaults: GatewaySettings = { senders: defaultSenders, returnOnceMax: returnOnceMaxDefault }

export interface BackOfficeSettings extends OperatorSettings {
  /**
   * Days for which the gateway remembers which account last sent to a number. This may be longer than the messages
   * themselves are stored (ruling 1.18).
   */
  readonly contactDays: number
}

export const backOfficeDefaults: BackOfficeSettings = { contactDays: contactDaysDefault, secondFactorRequired: false }

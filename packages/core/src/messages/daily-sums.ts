import type { AccountId } from '../accounts/account.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import type { GatewayDay } from '../time/gateway-time.ts'
import type { OutcomeCode } from './status-code.ts'

/**
 * Number of messages of one account, by the day on which their hand-over ended, by carrier, and by their present
 * outcome.
 */
export interface DailySum {
  readonly day: GatewayDay
  /** Undefined: the messages were handed to no carrier. */
  readonly carrier: CarrierId | undefined
  readonly code: OutcomeCode
  readonly messages: number
}

/** Daily sum that differs from the counted messages. */
export interface DailySumDifference {
  readonly account: AccountId
  readonly day: GatewayDay
  readonly code: OutcomeCode
  readonly sum: number
  readonly counted: number
}

/** Traffic of the gateway today. */
export interface Traffic {
  readonly byCarrier: readonly Pick<DailySum, 'carrier' | 'code' | 'messages'>[]
  readonly busiest: readonly { readonly account: AccountId; readonly messages: number }[]
}

/**
 * `kept`: days for which sums are stored. `checked`: days for which `check` compares the sums with the messages.
 * Messages are stored for at least as many days as are checked.
 */
export const dailySumDays = { kept: 400, checked: 60 }

/**
 * Number of messages in each state, by day, account and carrier. A message belongs to the day on which its hand-over to
 * a carrier ended. If it ended without a hand-over, it belongs to the day on which it ended. Waiting messages and
 * confirmations of opt-outs are not counted. Every statement that writes outcomes also records the change of the sums.
 */
export interface DailySums {
  /** Lists the sums of an account from this day on, by day. */
  ofAccount(account: AccountId, from: GatewayDay): Promise<readonly DailySum[]>
  /** Lists the sums of all accounts together from this day on, by carrier. */
  byCarrier(from: GatewayDay): Promise<readonly Pick<DailySum, 'carrier' | 'code' | 'messages'>[]>
  /** Lists the accounts with the most messages, most first. */
  busiest(
    from: GatewayDay,
    limit: number,
  ): Promise<readonly { readonly account: AccountId; readonly messages: number }[]>
  /**
   * Adds at most `changesMax` changes since the last call to the sums and deletes sums that are too old. Returns the
   * number of changes.
   */
  fold(changesMax: number): Promise<number>
  /**
   * Counts the messages from this day on in one snapshot with the sums and returns the sums that differ. There must be
   * none.
   */
  check(from: GatewayDay): Promise<readonly DailySumDifference[]>
}

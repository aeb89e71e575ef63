import type { Ports } from '../ports.ts'
import type { SmppProcessId } from './smpp-binds.ts'
import type { DeliveryVerdict, SmppDelivery } from './smpp-deliveries.ts'

/** Hours for which a receipt or a reply is offered, by default (ruling 5.7). */
export const deliveryHoursDefault = 72

/** Pause after the first attempt, and the longest pause. Each pause is twice as long as the previous pause. */
const pauseSeconds = { first: 5, longest: 900 } as const

/** Seconds until the next attempt after this many. */
export const pauseAfter = (tries: number): number =>
  Math.min(pauseSeconds.longest, pauseSeconds.first * 2 ** Math.min(Math.max(tries - 1, 0), 20))

/** Attempt of a claimed delivery that has ended. */
export interface EndedDelivery extends Pick<SmppDelivery, 'id' | 'tries'> {
  readonly verdict: DeliveryVerdict
}

/** Stores the results of attempts. Those to be repeated wait longer after each attempt. */
export const settleDeliveries =
  ({ smppDeliveries }: Pick<Ports, 'smppDeliveries'>) =>
  (process: SmppProcessId, ended: readonly EndedDelivery[]): Promise<void> =>
    smppDeliveries.settle(
      process,
      ended.map((one) => ({ ...one, pauseSeconds: pauseAfter(one.tries) })),
    )

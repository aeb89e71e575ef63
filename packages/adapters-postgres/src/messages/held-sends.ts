import type { Context } from '../context.ts'
import type { LostAnswer } from '../errors.ts'
import { revokeHeld } from '../sql/held-sends.ts'
import { HoldSlots } from './hold-slots.ts'
import { lookUpOutcome, type Hold, type OrderSends } from './sends.ts'
import type { WaitingOrder } from './waiting-orders.ts'

/** Order with the sends that were laid out for it. */
export interface LaidOutOrder {
  readonly order: WaitingOrder
  readonly laid: OrderSends
}

/**
 * Sends that wait for the decision of their `AnswerDeadline`. A statement that stores sends with a deadline holds them:
 * no dispatcher claims them until they are released. That happens when all deadlines of the statement were met: at once
 * by the next statement that uses the same slot, else by a statement of its own a few milliseconds later. If a deadline
 * was missed, or the outcome of the statement is not known, the sends are revoked first.
 */
export class HeldSends {
  readonly #context: Pick<Context, 'pools' | 'settings' | 'log'>
  readonly #slots: HoldSlots

  constructor(context: Pick<Context, 'pools' | 'settings' | 'log'>) {
    this.#context = context
    this.#slots = new HoldSlots(context)
  }

  /** Returns a slot that no statement uses. Its next statement releases the sends that it holds. */
  take(): Hold {
    return this.#slots.take()
  }

  /**
   * Returns a slot whose statement was rolled back or never run. It may still hold the sends of the statement before.
   */
  giveBack(hold: Hold): void {
    this.#slots.releaseSoon(hold)
  }

  /** Decides the deadlines of stored orders, and releases their sends. Returns true for each order that counts. */
  decide(hold: Hold, stored: readonly LaidOutOrder[]): readonly boolean[] {
    const met = stored.map(({ order }) => order.deadline?.meet() !== false)
    const missed = stored.filter((_, i) => met[i] === false)
    if (missed.length === 0) this.#slots.releaseSoon(hold)
    else void this.#revoke(hold, missed)
    return met
  }

  /**
   * Misses the deadlines of orders whose outcome is unknown, because the database cannot be reached. Ends the lost
   * statement as soon as possible and revokes what it stored.
   */
  abandon(hold: Hold, lost: LostAnswer, orders: readonly LaidOutOrder[]): void {
    for (const { order } of orders) order.deadline?.miss()
    void this.#settle(hold, lost, orders)
  }

  async #revoke(hold: Hold, orders: readonly LaidOutOrder[]): Promise<void> {
    const firstIds = orders.flatMap(({ laid }) => laid.sends.map(({ firstId }) => firstId))
    const messages = orders.reduce((sum, { laid }) => sum + messagesOf(laid), 0)
    const keys = orders.flatMap(({ order }) => order.repeatable?.key ?? [])
    let revoked = 0
    const isDone = await this.#slots.repeat('revoke messages that were answered as not accepted', async () => {
      const [row] = await this.#context.pools.hot.run(revokeHeld, { ...hold, firstIds, keys })
      revoked += row?.revoked ?? 0
    })
    // After a lost answer, the repetition finds nothing to revoke, so that fewer messages may be reported.
    const about = `${messages - revoked} of ${messages} messages that were answered as not accepted`
    if (isDone && revoked < messages) this.#context.log.warn(`${about} could not be revoked and may be sent`)
    this.#slots.free(hold)
  }

  async #settle(hold: Hold, lost: LostAnswer, orders: readonly LaidOutOrder[]): Promise<void> {
    const sends = orders.flatMap(({ laid }) => laid.sends)
    const { pools, settings } = this.#context
    let stored: ReadonlySet<number> = new Set()
    const isDone = await this.#slots.repeat('look up messages of unknown outcome', async () => {
      stored = (await lookUpOutcome(pools.hot, lost, sends, settings.lookUpSeconds)).stored
    })
    const found = orders.filter(
      ({
        laid: {
          sends: [first],
        },
      }) => first !== undefined && stored.has(first.firstId),
    )
    if (isDone && found.length === 0) this.giveBack(hold)
    else await this.#revoke(hold, isDone ? found : orders)
  }
}

const messagesOf = ({ sends }: OrderSends): number => sends.reduce((sum, { numbers }) => sum + numbers.length, 0)

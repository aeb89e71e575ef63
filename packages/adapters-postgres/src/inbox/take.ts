import { randomUUID } from 'node:crypto'
import type { AccountId, Inbox, InboxMessage, InboxPart, Instant, Taken, Taking } from '@gateway/core'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import type { Context } from '../context.ts'
import { isLostAnswer } from '../errors.ts'
import { inSlices } from '../in-slices.ts'
import { refuseWhileHeld, sayIfNothingDone } from '../nothing-done.ts'
import { endLostStatement } from '../settle-lost-statement.ts'
import { putBack, takeInbox } from '../sql/inbox.ts'
import { fromRow } from '../row-of.ts'

export function createTake({ pools: { hot, writes }, settings }: Context): Pick<Inbox, 'take' | 'offerAgain'> {
  /**
   * Calls, with their accounts, that may have taken something for nobody, which could not be put back: the database was
   * away.
   */
  const debts = new Map<Taking, AccountId>()

  async function offerAgain(by: AccountId, taking: Taking): Promise<void> {
    await retryOnConnectionLoss(hot, putBack, { account: by, operation: taking })
    debts.delete(taking)
  }

  async function take(by: AccountId, part: InboxPart, since: Instant, messagesMax: number): Promise<Taken> {
    refuseWhileHeld(writes)
    for (const [taking, owner] of debts) await offerAgain(owner, taking)
    const taking = randomUUID() as string as Taking
    try {
      const rows = await hot.run(takeInbox[part], { account: by, since, messagesMax, operation: taking })
      return { taking, messages: await inSlices(rows, (row) => fromRow<InboxMessage>(row)) }
    } catch (error) {
      if (!isLostAnswer(error)) throw sayIfNothingDone(error)
      debts.set(taking, by)
      // Only once the old statement has ended it takes nothing more.
      await endLostStatement(hot, error, settings.lookUpSeconds, () => offerAgain(by, taking))
      throw error
    }
  }
  return { take, offerAgain }
}

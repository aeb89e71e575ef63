import { randomUUID } from 'node:crypto'
import { type AccountId, type Inbox, type InboxPart, type Instant, type Taken, type Taking } from '@gateway/core'
import { again } from '../again.ts'
import type { Context } from '../context.ts'
import { isLostAnswer } from '../errors.ts'
import { onceEnded } from '../once-ended.ts'
import { timestamp } from '../sql/arrays.ts'
import { putBack, takeInbox } from '../sql/inbox.ts'
import { inboxMessage } from './inbox-message.ts'

/** What a call took, or may have: all of it was received from the one time to the other. */
interface Debt {
  readonly by: AccountId
  readonly operation: string
  readonly from: string
  readonly to: string
}

export function createTake({ pools: { hot }, settings }: Context): Pick<Inbox, 'take' | 'offerAgain'> {
  /** What was taken for nobody and could not be put back, since the database was away. */
  const debts = new Set<Debt>()

  const settle = async (debt: Debt): Promise<void> => {
    await again(hot, putBack, [debt.by, debt.operation, debt.from, debt.to])
    debts.delete(debt)
  }

  async function take(by: AccountId, part: InboxPart, since: Instant, messagesMax: number): Promise<Taken> {
    for (const debt of debts) await settle(debt)
    const operation = randomUUID()
    try {
      const rows = await hot.run(takeInbox[part], [by, timestamp(since), messagesMax, operation])
      const messages = rows.map(inboxMessage)
      return { taking: takingOf(operation, messages), messages }
    } catch (error) {
      if (!isLostAnswer(error)) throw error
      const debt = { by, operation, from: timestamp(since), to: 'infinity' }
      debts.add(debt)
      // Only once the old statement has ended it takes nothing more.
      await onceEnded(hot, error, settings.findOutSeconds, () => settle(debt))
      throw error
    }
  }

  return {
    take,
    offerAgain: async (by, taking) => {
      const [operation, from, to] = taking.split(' ')
      if (to !== undefined) await again(hot, putBack, [by, operation, from, to])
    },
  }
}

/** With the times between which all of it was received: so it is found by the index of the list. */
function takingOf(operation: string, messages: readonly { readonly at: Instant }[]): Taking {
  const [first, last] = [messages[0], messages.at(-1)]
  if (first === undefined || last === undefined) return operation as Taking
  // An instant is cut to the millisecond.
  return `${operation} ${timestamp(first.at)} ${timestamp(last.at + 1)}` as Taking
}

import type { AccountId } from '@gateway/core/accounts'
import type { AllowedSender, SenderAddress, Senders } from '@gateway/core/messages'
import { sql } from 'kysely'
import { notifyOthers } from '../changes.ts'
import type { Context } from '../context.ts'
import { hasRow } from '../query-parts.ts'

const none: readonly AllowedSender[] = []

export function postgresSenders({ pools: { kysely }, changes, allowedSenders }: Context): Senders {
  async function assign(code: SenderAddress, account: AccountId) {
    const owner = await kysely.selectFrom('account').select('id').where('id', '=', account).executeTakeFirst()
    if (owner === undefined) return 'no-such-account'
    const assigned = await kysely
      .insertInto('sender')
      .values({ address: code, account_id: account, assigned_at: sql`now()` })
      .onConflict((conflict) =>
        conflict
          .column('address')
          .doUpdateSet({ account_id: account, assigned_at: sql`now()` })
          .where('sender.account_id', 'is', null),
      )
      .returning(notifyOthers.as('notified'))
      .execute()
    if (assigned.length > 0) return 'assigned'
    const holder = await kysely.selectFrom('sender').select('account_id').where('address', '=', code).executeTakeFirst()
    return holder?.account_id === account ? 'already' : 'taken'
  }

  async function release(code: SenderAddress): Promise<boolean> {
    const released = kysely
      .updateTable('sender')
      .set({ account_id: null, assigned_at: null })
      .where('address', '=', code)
      .where('account_id', 'is not', null)
    return hasRow(released.returning(notifyOthers.as('notified')))
  }

  async function assigned() {
    const rows = await kysely
      .selectFrom('sender')
      .select(['address', 'account_id'])
      .where('account_id', 'is not', null)
      .orderBy(sql`address collate "C"`)
      .execute()
    return rows.flatMap(({ address, account_id: account }) => (account === null ? [] : { code: address, account }))
  }
  return {
    assign: (code, account) => changes.around(assign(code, account)),
    release: (code) => changes.around(release(code)),
    assigned,
    allow: (sender) => allowedSenders.allow(sender),
    disallow: (account, sender) => allowedSenders.disallow(account, sender),
    allowed: () => allowedSenders.list(),
    allowedTo: async (account) => (await allowedSenders.known()).get(account) ?? none,
  }
}

import type { AccountId } from '@gateway/core/accounts'
import type { AllowedSender, SenderAddress } from '@gateway/core/messages'
import { sql } from 'kysely'
import { createCache } from '../cache.ts'
import { notifyOthers, type Changes } from '../changes.ts'
import type { Pools } from '../pools.ts'
import { hasRow } from '../query-parts.ts'
import type { Settings } from '../settings.ts'

/** Senders that accounts may name. All are cached, because they are few. */
export interface AllowedSenders {
  /** Returns the cached senders by account. Accounts without any are missing. */
  known(): Promise<ReadonlyMap<AccountId, readonly AllowedSender[]>>
  list(): Promise<readonly AllowedSender[]>
  allow(sender: AllowedSender): Promise<'added' | 'changed' | 'no-such-account'>
  disallow(account: AccountId, sender: SenderAddress): Promise<boolean>
}

export function allowedSenders({ kysely }: Pools, changes: Changes, settings: Settings): AllowedSenders {
  async function list(): Promise<readonly AllowedSender[]> {
    const rows = await kysely
      .selectFrom('allowed_sender')
      .selectAll()
      .orderBy('account_id')
      .orderBy(sql`address collate "C"`)
      .execute()
    return rows.map((row) => ({
      account: row.account_id,
      sender: row.address,
      destinations: row.destinations,
      defaultFor: row.default_for,
      carriers: row.carriers,
      otherwise: row.refuses ? 'refuse' : 'replace',
    }))
  }

  async function load(): Promise<ReadonlyMap<AccountId, readonly AllowedSender[]>> {
    changes.listen()
    const byAccount = new Map<AccountId, AllowedSender[]>()
    for (const sender of await list()) {
      const ofAccount = byAccount.get(sender.account) ?? []
      byAccount.set(sender.account, ofAccount)
      ofAccount.push(sender)
    }
    return byAccount
  }
  const cache = createCache({ seconds: settings.cacheSeconds, entriesMax: 1, load })
  changes.onChange(() => cache.clear())

  async function allow(sender: AllowedSender): Promise<'added' | 'changed' | 'no-such-account'> {
    const { account, sender: address, destinations, defaultFor, carriers, otherwise } = sender
    const holder = await kysely.selectFrom('account').select('id').where('id', '=', account).executeTakeFirst()
    if (holder === undefined) return 'no-such-account'
    const columns = { destinations, default_for: defaultFor, carriers, refuses: otherwise === 'refuse' }
    const [row] = await kysely
      .insertInto('allowed_sender')
      .values({ account_id: account, address, ...columns })
      .onConflict((conflict) => conflict.columns(['account_id', 'address']).doUpdateSet(columns))
      .returning([sql<boolean>`xmax = 0`.as('added'), notifyOthers.as('notified')])
      .execute()
    return row?.added === true ? 'added' : 'changed'
  }

  async function disallow(account: AccountId, address: SenderAddress): Promise<boolean> {
    const removed = kysely.deleteFrom('allowed_sender').where('account_id', '=', account).where('address', '=', address)
    return hasRow(removed.returning(notifyOthers.as('notified')))
  }
  return {
    known: () => cache.get('all'),
    list,
    allow: (sender) => changes.around(allow(sender)),
    disallow: (account, sender) => changes.around(disallow(account, sender)),
  }
}

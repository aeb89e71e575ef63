import type { AccountId } from '@gateway/core/accounts'
import type { CarrierId } from '@gateway/core/dispatch'
import type { AllowedSender, SenderAddress } from '@gateway/core/messages'
import { sql } from 'kysely'
import { createCache } from '../cache.ts'
import { notifyOthers, type Changes } from '../changes.ts'
import type { Pools } from '../pools.ts'
import type { Settings } from '../settings.ts'

/** The senders that accounts may name: few, so that all of them are remembered. */
export interface AllowedSenders {
  /** As remembered, by account; who has none is not in it. */
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
      account: row.account_id as AccountId,
      sender: row.address as SenderAddress,
      destinations: row.destinations,
      defaultFor: row.default_for,
      carriers: row.carriers as CarrierId[],
      otherwise: row.refuses ? 'refuse' : 'replace',
    }))
  }

  async function load(): Promise<ReadonlyMap<AccountId, readonly AllowedSender[]>> {
    changes.listen()
    const byAccount = new Map<AccountId, AllowedSender[]>()
    for (const sender of await list()) {
      const its = byAccount.get(sender.account) ?? []
      byAccount.set(sender.account, its)
      its.push(sender)
    }
    return byAccount
  }
  const cache = createCache({ seconds: settings.cacheSeconds, entriesMax: 1, load })
  changes.onChange(() => cache.clear())

  async function allow(sender: AllowedSender): Promise<'added' | 'changed' | 'no-such-account'> {
    const { account, sender: address, destinations, defaultFor, carriers, otherwise } = sender
    const there = await kysely.selectFrom('account').select('id').where('id', '=', account).executeTakeFirst()
    if (there === undefined) return 'no-such-account'
    const says = { destinations, default_for: defaultFor, carriers, refuses: otherwise === 'refuse' }
    const [row] = await kysely
      .insertInto('allowed_sender')
      .values({ account_id: account, address, ...says })
      .onConflict((conflict) => conflict.columns(['account_id', 'address']).doUpdateSet(says))
      .returning([sql<boolean>`xmax = 0`.as('added'), notifyOthers.as('told')])
      .execute()
    return row?.added === true ? 'added' : 'changed'
  }

  async function disallow(account: AccountId, address: SenderAddress): Promise<boolean> {
    const gone = await kysely
      .deleteFrom('allowed_sender')
      .where('account_id', '=', account)
      .where('address', '=', address)
      .returning(notifyOthers.as('told'))
      .execute()
    return gone.length > 0
  }
  return {
    known: () => cache.get('all'),
    list,
    allow: (sender) => changes.around(allow(sender)),
    disallow: (account, sender) => changes.around(disallow(account, sender)),
  }
}

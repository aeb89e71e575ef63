import type { AccountId } from '@gateway/core/accounts'
import type { AllowedSender, SenderAddress, Senders } from '@gateway/core/messages'
import { sql } from 'kysely'
import { createCache } from '../cache.ts'
import { notifyOthers, type Changes } from '../changes.ts'
import type { Pools } from '../pools.ts'
import { hasRow } from '../query-parts.ts'
import type { Settings } from '../settings.ts'

/**
 * Returns the cached senders that accounts may name, by account. Accounts without any are missing. All are cached,
 * because they are few.
 */
export type AllowedSenders = () => Promise<ReadonlyMap<AccountId, readonly AllowedSender[]>>

export function allowedSenders({ kysely }: Pools, changes: Changes, settings: Settings): AllowedSenders {
  async function load(): Promise<ReadonlyMap<AccountId, readonly AllowedSender[]>> {
    changes.listen()
    const byAccount = new Map<AccountId, AllowedSender[]>()
    for (const sender of await listAllowed(kysely)) {
      const ofAccount = byAccount.get(sender.account) ?? []
      byAccount.set(sender.account, ofAccount)
      ofAccount.push(sender)
    }
    return byAccount
  }
  const cache = createCache({ seconds: settings.cacheSeconds, entriesMax: 1, load })
  changes.onChange(() => cache.clear())
  return () => cache.get('all')
}

/** Reads all allowed senders, by account, then sender as text. */
async function listAllowed(kysely: Pools['kysely']): Promise<readonly AllowedSender[]> {
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

const none: readonly AllowedSender[] = []

/** Parts of `Context` that the adapter uses. The type itself is not imported, because it contains `AllowedSenders`. */
interface SendersContext {
  readonly pools: Pools
  readonly changes: Changes
  readonly allowedSenders: AllowedSenders
}

export function postgresSenders({ pools: { kysely }, changes, allowedSenders }: SendersContext): Senders {
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
    assign: (code, account) => changes.around(assign(code, account)),
    release: (code) => changes.around(release(code)),
    assigned,
    allow: (sender) => changes.around(allow(sender)),
    disallow: (account, sender) => changes.around(disallow(account, sender)),
    allowed: () => listAllowed(kysely),
    allowedTo: async (account) => (await allowedSenders()).get(account) ?? none,
  }
}

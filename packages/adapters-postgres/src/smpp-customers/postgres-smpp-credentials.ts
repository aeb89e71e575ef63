import type { AccountId } from '@gateway/core/accounts'
import type {
  NewSmppCredential,
  SmppCredential,
  SmppCredentialId,
  SmppCredentials,
  SmppLogin,
  SmppSettings,
} from '@gateway/core/smpp-customers'
import type { Instant } from '@gateway/core/time'
import { sql, type Kysely, type Selectable } from 'kysely'
import { accountOf, selectAccounts } from '../accounts/find-accounts.ts'
import { createCache } from '../cache.ts'
import { notifyOthers } from '../changes.ts'
import type { Context } from '../context.ts'
import { isTaken } from '../errors.ts'
import { timestamp } from '../sql/arrays.ts'
import { EVENT_CODE, WEBHOOK_STATE } from '../stored-codes.ts'
import type { Tables } from '../tables.ts'

/** Bits of the event types that report messages of persons. */
const replyEvents = (1 << EVENT_CODE['reply.received']) | (1 << EVENT_CODE['shortcode.received'])

export function postgresSmppCredentials({ pools, settings, changes }: Context): SmppCredentials {
  const { kysely } = pools

  const ofAccount = (account: AccountId | undefined) =>
    sql<boolean>`(${account ?? null}::int is null or account_id = ${account ?? null}::int)`
  const select = () => kysely.selectFrom('smpp_credential').selectAll()

  async function loginOf(row: Selectable<Tables['smpp_credential']> | undefined): Promise<SmppLogin | undefined> {
    if (row === undefined) return undefined
    const account = await selectAccounts(pools).where('account.id', '=', row.account_id).executeTakeFirst()
    return account && { account: accountOf(account), credential: credentialOf(row), password: row.password_hash }
  }

  async function load(id: SmppCredentialId): Promise<SmppLogin | undefined> {
    changes.listen()
    return loginOf(await select().where('id', '=', id).executeTakeFirst())
  }

  async function loadBySystemId(systemId: string): Promise<SmppLogin | undefined> {
    changes.listen()
    // Other letters than those of ASCII change their case differently in JavaScript and in the index.
    if (!/^[!-~]+$/.test(systemId)) return undefined
    const row = await select()
      .where(sql<boolean>`lower(system_id collate "C") = ${systemId.toLowerCase()}`)
      .executeTakeFirst()
    return loginOf(row)
  }

  const bounds = { seconds: settings.cacheSeconds, entriesMax: settings.cachedAccountsMax }
  const sessions = createCache({ ...bounds, load })
  const logins = createCache({ ...bounds, load: loadBySystemId })
  changes.onChange(() => {
    sessions.clear()
    logins.clear()
  })

  const update = (
    account: AccountId | undefined,
    id: SmppCredentialId,
    columns: Partial<ReturnType<typeof columnsOf>> & { password_hash?: SmppCredentialHash; rotated_at?: string },
  ) =>
    kysely
      .updateTable('smpp_credential')
      // Always written, so that the statement has a column and shows whether the credential exists.
      .set((of) => ({ system_id: of.ref('system_id'), ...columns }))
      .where('id', '=', id)
      .where(ofAccount(account))
      .returningAll()
      .returning(notifyOthers.as('notified'))

  return {
    add: (credential, now) => changes.around(add(kysely, credential, now)),
    list: async (account) => (await select().where(ofAccount(account)).orderBy('id').execute()).map(credentialOf),
    find: async (account, id) => {
      const row = await select().where('id', '=', id).where(ofAccount(account)).executeTakeFirst()
      return row && credentialOf(row)
    },
    change: async (account, id, settings) => {
      const row = await changes.around(update(account, id, columnsOf(settings)).executeTakeFirst())
      return row && credentialOf(row)
    },
    rotate: async (account, id, password, now) => {
      const changed = update(account, id, { password_hash: password, rotated_at: timestamp(now) })
      const row = await changes.around(
        kysely.transaction().execute(async (transaction) => {
          const rotated = await transaction.executeQuery(changed.compile())
          const [found] = rotated.rows
          if (found !== undefined) await transaction.deleteFrom('smpp_bind').where('credential_id', '=', id).execute()
          return found
        }),
      )
      return row && credentialOf(row)
    },
    remove: (account, id) => changes.around(remove(kysely, account, id)),
    session: async (id) => {
      const login = await sessions.get(id)
      return login && { account: login.account, credential: login.credential }
    },
    bySystemId: (systemId) => logins.get(systemId),
    readSystemId: loadBySystemId,
    repliesBy: async (account) => {
      const row = await kysely
        .selectFrom('smpp_account')
        .select('replies_by')
        .where('account_id', '=', account)
        .executeTakeFirst()
      return row?.replies_by ?? 'webhook'
    },
    setRepliesBy: async (account, by) => {
      const changed = kysely.updateTable('smpp_account').set({ replies_by: by }).where('account_id', '=', account)
      return (await changed.returning('account_id').execute()).length > 0
    },
  }
}

type SmppCredentialHash = Tables['smpp_credential']['password_hash']

/**
 * Adds a credential in one transaction, which locks the account's entry in the directory: calls that add the first and
 * remove the last credential run one after the other.
 */
async function add(
  kysely: Kysely<Tables>,
  { account, systemId, password, ...settings }: NewSmppCredential,
  now: Instant,
): Promise<SmppCredential | 'no-such-account' | 'system-id-taken'> {
  try {
    return await kysely.transaction().execute(async (transaction) => {
      if (!(await lockDirectory(transaction, account))) return 'no-such-account'
      const row = await transaction
        .insertInto('smpp_credential')
        .values({
          ...allColumnsOf(settings),
          ...{ account_id: account, system_id: systemId, password_hash: password, created_at: timestamp(now) },
        })
        .returningAll()
        .returning(notifyOthers.as('notified'))
        .executeTakeFirstOrThrow()
      await sql`
        insert into smpp_account (account_id, replies_by)
        select ${account}::int, case
          when exists (
            select from webhook
            where account_id = ${account}::int and state <> ${sql.lit(WEBHOOK_STATE.disabled)}
              and events & ${sql.lit(replyEvents)} <> 0
          ) then 'webhook' else 'smpp'
        end
        on conflict do nothing
      `.execute(transaction)
      return credentialOf(row)
    })
  } catch (error) {
    if (isTaken(error, 'smpp_credential_system_id')) return 'system-id-taken'
    throw error
  }
}

async function remove(kysely: Kysely<Tables>, owner: AccountId | undefined, id: SmppCredentialId): Promise<boolean> {
  return kysely.transaction().execute(async (transaction) => {
    const found = await transaction
      .selectFrom('smpp_credential')
      .select('account_id')
      .where('id', '=', id)
      .executeTakeFirst()
    if (found === undefined || (owner !== undefined && found.account_id !== owner)) return false
    const { account_id: account } = found
    await lockDirectory(transaction, account)
    const removed = await transaction
      .deleteFrom('smpp_credential')
      .where('id', '=', id)
      .returning(notifyOthers.as('notified'))
      .execute()
    await transaction.deleteFrom('smpp_bind').where('credential_id', '=', id).execute()
    await sql`
      delete from smpp_account
      where account_id = ${account} and not exists (select from smpp_credential where account_id = ${account})
    `.execute(transaction)
    return removed.length > 0
  })
}

async function lockDirectory(transaction: Kysely<Tables>, account: AccountId): Promise<boolean> {
  const rows = await transaction
    .selectFrom('directory')
    .select('account_id')
    .where('account_id', '=', account)
    .forUpdate()
    .execute()
  return rows.length > 0
}

const allColumnsOf = (settings: SmppSettings) => ({
  bind_networks: settings.from,
  binds: settings.binds,
  window_size: settings.window,
  per_second: settings.perSecond,
  alphabet0: settings.alphabet0,
  alphabet1: settings.alphabet1,
  country: settings.country ?? null,
  idempotent: settings.isIdempotent,
  receipt_offset_minutes: settings.receiptOffsetMinutes,
})

/** Returns the columns of those settings that change. A country that is present and undefined is removed. */
const columnsOf = (settings: Partial<SmppSettings>) => ({
  ...(settings.from !== undefined && { bind_networks: settings.from }),
  ...(settings.binds !== undefined && { binds: settings.binds }),
  ...(settings.window !== undefined && { window_size: settings.window }),
  ...(settings.perSecond !== undefined && { per_second: settings.perSecond }),
  ...(settings.alphabet0 !== undefined && { alphabet0: settings.alphabet0 }),
  ...(settings.alphabet1 !== undefined && { alphabet1: settings.alphabet1 }),
  ...('country' in settings && { country: settings.country ?? null }),
  ...(settings.isIdempotent !== undefined && { idempotent: settings.isIdempotent }),
  ...(settings.receiptOffsetMinutes !== undefined && { receipt_offset_minutes: settings.receiptOffsetMinutes }),
})

const credentialOf = (row: Selectable<Tables['smpp_credential']>): SmppCredential => ({
  id: row.id,
  account: row.account_id,
  systemId: row.system_id,
  created: row.created_at,
  rotated: row.rotated_at ?? undefined,
  from: row.bind_networks,
  binds: row.binds,
  window: row.window_size,
  perSecond: row.per_second,
  alphabet0: row.alphabet0,
  alphabet1: row.alphabet1,
  country: row.country ?? undefined,
  isIdempotent: row.idempotent,
  receiptOffsetMinutes: row.receipt_offset_minutes,
})

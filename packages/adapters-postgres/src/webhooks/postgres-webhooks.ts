import type { AccountId } from '@gateway/core/accounts'
import type { Instant } from '@gateway/core/time'
import {
  webhooksMax,
  type NewWebhook,
  type SealedSecret,
  type SigningSecrets,
  type Webhook,
  type WebhookChange,
  type WebhookId,
  type Webhooks,
} from '@gateway/core/webhooks'
import { sql } from 'kysely'
import type { Context } from '../context.ts'
import { hasRow } from '../query-parts.ts'
import { timestamp } from '../sql/arrays.ts'
import { wakeIdle } from '../sql/idle-dispatchers.ts'
import { bitsOf, LIST_STATE, WEBHOOK_STATE } from '../stored-codes.ts'
import { inspectWebhooks } from './inspect.ts'
import { pushLists } from './push-lists.ts'
import { replays } from './replays.ts'
import { webhookOf } from './webhook-row.ts'

type Configured = Pick<
  Webhooks,
  'add' | 'list' | 'find' | 'change' | 'remove' | 'rotate' | 'lastSecret' | 'resealSecrets'
>

/** Implements endpoints and the events that are pushed to them. */
export function postgresWebhooks(context: Context): Webhooks {
  const configured = configureWebhooks(context)
  return {
    ...configured,
    ...inspectWebhooks(context, configured),
    ...replays(context, configured),
    ...pushLists(context),
  }
}

function configureWebhooks({ pools: { kysely } }: Context): Configured {
  const ofAccount = (account: AccountId | undefined) =>
    sql<boolean>`(${account ?? null}::int is null or account_id = ${account ?? null}::int)`

  /** Adds an endpoint. Locks the account, so that concurrent calls count each other's endpoints. */
  async function add(webhook: NewWebhook, now: Instant): Promise<Webhook | 'too-many' | 'no-such-account'> {
    const { account, url, events, listSize, withText, secret } = webhook
    return kysely.transaction().execute(async (trx) => {
      const holder = await trx
        .selectFrom('directory')
        .select('account_id')
        .where('account_id', '=', account)
        .forUpdate()
        .execute()
      if (holder.length === 0) return 'no-such-account'
      const existing = await trx.selectFrom('webhook').select('id').where('account_id', '=', account).execute()
      if (existing.length >= webhooksMax) return 'too-many'
      const row = await trx
        .insertInto('webhook')
        .values({
          account_id: account,
          url,
          events: bitsOf(events),
          list_size: listSize,
          with_text: withText,
          created_at: timestamp(now),
          secret,
        })
        .returningAll()
        .executeTakeFirstOrThrow()
      return webhookOf(row)
    })
  }

  async function list(account: AccountId | undefined): Promise<readonly Webhook[]> {
    const rows = await kysely.selectFrom('webhook').selectAll().where(ofAccount(account)).orderBy('id').execute()
    return rows.map(webhookOf)
  }

  async function find(account: AccountId | undefined, id: WebhookId): Promise<Webhook | undefined> {
    const row = await kysely
      .selectFrom('webhook')
      .selectAll()
      .where('id', '=', id)
      .where(ofAccount(account))
      .executeTakeFirst()
    return row && webhookOf(row)
  }

  async function change(
    account: AccountId | undefined,
    id: WebhookId,
    changes: WebhookChange,
    now: Instant,
  ): Promise<Webhook | undefined> {
    const { url, events, listSize, withText, state } = changes
    return kysely.transaction().execute(async (trx) => {
      const before = await trx
        .selectFrom('webhook')
        .select('state')
        .where('id', '=', id)
        .where(ofAccount(account))
        .forUpdate()
        .executeTakeFirst()
      if (before === undefined) return undefined
      const pauses = state === 'paused' && before.state === WEBHOOK_STATE.active
      const row = await trx
        .updateTable('webhook')
        .set((columns) => ({
          list_size: listSize ?? columns.ref('list_size'),
          ...(url === undefined ? {} : { url }),
          ...(events === undefined ? {} : { events: bitsOf(events) }),
          ...(withText === undefined ? {} : { with_text: withText }),
          ...(pauses ? { state: WEBHOOK_STATE.paused, paused_for: 'by-request' } : {}),
          ...(state === 'active' ? { state: WEBHOOK_STATE.active, paused_for: null, failing_since: null } : {}),
        }))
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow()
      if (state === 'active') {
        await sql`
          update webhook_list set due_at = ${timestamp(now)}::timestamptz
          where webhook_id = ${id} and state = ${sql.lit(LIST_STATE.open)} and not leased
            and due_at > ${timestamp(now)}::timestamptz
        `.execute(trx)
        await sql`select ${sql.raw(wakeIdle)}`.execute(trx)
      }
      return webhookOf(row)
    })
  }

  async function remove(account: AccountId | undefined, id: WebhookId): Promise<boolean> {
    return hasRow(kysely.deleteFrom('webhook').where('id', '=', id).where(ofAccount(account)).returning('id'))
  }

  async function rotate(
    account: AccountId | undefined,
    id: WebhookId,
    change: (secrets: SigningSecrets) => SigningSecrets,
  ): Promise<Webhook | undefined> {
    return kysely.transaction().execute(async (trx) => {
      const row = await trx
        .selectFrom('webhook')
        .selectAll()
        .where('id', '=', id)
        .where(ofAccount(account))
        .forUpdate()
        .executeTakeFirst()
      if (row === undefined) return undefined
      const secrets = change(webhookOf(row))
      await trx.updateTable('webhook').set(columnsOf(secrets)).where('id', '=', id).execute()
      return { ...webhookOf(row), ...secrets }
    })
  }

  async function lastSecret(): Promise<SealedSecret | undefined> {
    const row = await kysely
      .selectFrom('webhook')
      .select('secret')
      .orderBy('secret_at', 'desc')
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst()
    return row?.secret
  }

  async function resealSecrets(sealAgain: (sealed: SealedSecret) => SealedSecret): Promise<number> {
    return kysely.transaction().execute(async (trx) => {
      const rows = await trx
        .selectFrom('webhook')
        .select(['id', 'secret', 'previous'])
        .orderBy('id')
        .forUpdate()
        .execute()
      let changed = 0
      for (const { id, secret, previous } of rows) {
        const next = columnsOf({
          secret: sealAgain(secret),
          previous: previous.map((one) => ({ ...one, secret: sealAgain(one.secret) })),
        })
        if (next.secret === secret && next.previous === JSON.stringify(previous)) continue
        await trx.updateTable('webhook').set(next).where('id', '=', id).execute()
        changed++
      }
      return changed
    })
  }
  return { add, list, find, change, remove, rotate, lastSecret, resealSecrets }
}

const columnsOf = ({ secret, previous }: SigningSecrets) => ({
  secret,
  secret_at: sql<string>`now()`,
  previous: JSON.stringify(previous),
})

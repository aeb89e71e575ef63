import type { Webhook } from '@gateway/core/webhooks'
import type { Selectable } from 'kysely'
import { typesOf, webhookStates } from '../stored-codes.ts'
import type { Tables } from '../tables.ts'

export type WebhookRow = Selectable<Tables['webhook']>

export const webhookOf = (row: WebhookRow): Webhook => ({
  id: row.id,
  account: row.account_id,
  url: row.url,
  events: typesOf(row.events),
  listSize: row.list_size,
  withText: row.with_text,
  state: webhookStates.get(row.state) ?? 'disabled',
  pausedFor: row.paused_for ?? undefined,
  created: row.created_at,
  failingSince: row.failing_since ?? undefined,
  secret: row.secret,
  previous: row.previous,
})

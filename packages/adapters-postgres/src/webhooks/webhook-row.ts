import type { AccountId } from '@gateway/core/accounts'
import type { Instant } from '@gateway/core/time'
import type { PauseReason, SealedSecret, Webhook, WebhookId } from '@gateway/core/webhooks'
import type { Selectable } from 'kysely'
import { typesOf, webhookStates } from '../stored-codes.ts'
import type { Tables } from '../tables.ts'

export type WebhookRow = Selectable<Tables['webhook']>

export const webhookOf = (row: WebhookRow): Webhook => ({
  id: row.id as WebhookId,
  account: row.account_id as AccountId,
  url: row.url,
  events: typesOf(row.events),
  listSize: row.list_size,
  withText: row.with_text,
  state: webhookStates.get(row.state) ?? 'disabled',
  pausedFor: (row.paused_for ?? undefined) as PauseReason | undefined,
  created: row.created_at as Instant,
  failingSince: (row.failing_since ?? undefined) as Instant | undefined,
  secret: row.secret as SealedSecret,
  previous: row.previous,
})

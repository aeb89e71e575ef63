import {
  type AccountId,
  type Instant,
  type PauseReason,
  type PushVerdict,
  type ReplayState,
  type SealedSecret,
  type Webhook,
  type WebhookId,
  type WebhookState,
} from '@gateway/core'
import type { Selectable } from 'kysely'
import type { Tables } from '../tables.ts'
import { typesOf } from './event-codes.ts'

/** How the table writes the states. */
export const WEBHOOK_STATE = { active: 0, paused: 1, disabled: 2 } as const satisfies Record<WebhookState, number>

/** How the table writes what came of a try. */
export const VERDICT = { delivered: 0, retry: 1, dead: 2, gone: 3, failed: 4 } as const satisfies Record<
  PushVerdict,
  number
>

/** How the table writes the states of replays. */
export const REPLAY_STATE = { running: 0, done: 1, stopped: 2 } as const satisfies Record<ReplayState, number>

export const replayStates = Object.keys(REPLAY_STATE) as readonly ReplayState[]

const states = Object.keys(WEBHOOK_STATE) as readonly WebhookState[]

export type WebhookRow = Selectable<Tables['webhook']>

export const webhookOf = (row: WebhookRow): Webhook => ({
  id: row.id as WebhookId,
  account: row.account_id as AccountId,
  url: row.url,
  events: typesOf(row.events),
  listSize: row.list_size,
  withText: row.with_text,
  state: states[row.state] ?? 'disabled',
  pausedFor: (row.paused_for ?? undefined) as PauseReason | undefined,
  created: row.created_at as Instant,
  failingSince: (row.failing_since ?? undefined) as Instant | undefined,
  secret: row.secret as SealedSecret,
  previous: row.previous,
})

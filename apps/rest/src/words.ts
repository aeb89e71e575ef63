import type { Deletion } from '@gateway/core/messages'
import type { PauseReason, WebhookState } from '@gateway/core/webhooks'

/** Words of `deleteError` (ruling 2.8). */
export const DELETE_ERROR = {
  deleted: '',
  sent: 'SENT',
  'not-found': 'NOTFOUND',
} as const satisfies Record<Deletion['outcome'], string>

/** Words for the `state` of a webhook. */
export const WEBHOOK_STATE = {
  active: 'active',
  paused: 'paused',
  disabled: 'disabled',
} as const satisfies Record<WebhookState, string>

/** Words for `pausedFor` of a webhook. */
export const PAUSED_FOR = {
  'by-request': 'by-request',
  failing: 'failing',
} as const satisfies Record<PauseReason, string>

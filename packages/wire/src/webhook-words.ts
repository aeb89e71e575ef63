import type {
  NextTryReason,
  PauseReason,
  PushFailure,
  PushVerdict,
  ReplayState,
  UrlRefusal,
  WebhookState,
} from '@gateway/core/webhooks'

/** Requirements on the URL of a webhook, as they follow the words `must be`. */
export const URL_RULE = {
  'not-a-url': 'a URL',
  'not-https': 'a URL with https',
  'credentials-in-url': 'a URL without user name and password',
  'port-not-allowed': 'a URL with port 80, 443 or one above 1023',
  'too-long': 'a URL of at most 2048 characters',
  'internal-address': 'a URL of a public address',
} as const satisfies Record<UrlRefusal, string>

/** Words for the state of a webhook. */
export const WEBHOOK_STATE = {
  active: 'active',
  paused: 'paused',
  disabled: 'disabled',
} as const satisfies Record<WebhookState, string>

/** Words for the reason of a pause. */
export const PAUSED_FOR = {
  'by-request': 'by-request',
  failing: 'failing',
} as const satisfies Record<PauseReason, string>

/** State of a paused webhook, for people. */
export const PAUSED_TEXT = {
  'by-request': 'paused by an operator or its account',
  failing: 'paused: failing for 5 days',
} as const satisfies Record<PauseReason, string>

/** Words of the interfaces for a request to a webhook without an answer. */
export const PUSH_FAILURE = {
  'not-a-url': 'not-a-url',
  'not-https': 'not-https',
  'credentials-in-url': 'credentials-in-url',
  'port-not-allowed': 'port-not-allowed',
  'too-long': 'too-long',
  'internal-address': 'internal-address',
  'name-not-found': 'name-not-found',
  'connection-failed': 'connection-failed',
  'tls-failed': 'tls-failed',
  timeout: 'timeout',
  'connection-closed': 'connection-closed',
  'invalid-answer': 'invalid-answer',
  stopped: 'stopped',
  'not-signed': 'not-signed',
  unreadable: 'unreadable',
} as const satisfies Record<PushFailure, string>

/** Words for the result of a request to a webhook. */
export const PUSH_RESULT = {
  delivered: 'delivered',
  retry: 'failed',
  dead: 'dead',
  gone: 'gone',
  failed: 'failed',
} as const satisfies Record<PushVerdict, string>

/** Results of requests to a webhook, for people. */
export const PUSH_RESULT_TEXT = {
  delivered: 'delivered',
  retry: 'tried again',
  dead: 'given up',
  gone: 'switched off',
  failed: 'failed',
} as const satisfies Record<PushVerdict, string>

/** Words for the state of a replay. */
export const REPLAY_STATE = {
  running: 'running',
  done: 'done',
  stopped: 'stopped',
} as const satisfies Record<ReplayState, string>

/** State of a replay, for people. */
export const REPLAY_TEXT = {
  running: 'is running',
  done: 'is done',
  stopped: 'was stopped',
} as const satisfies Record<ReplayState, string>

/** Words for the reason that determines the time of the next try, or that rules out another try. */
export const NEXT_TRY_REASON = {
  delivered: 'delivered',
  gone: 'gone',
  'tries-exhausted': 'tries-exhausted',
  test: 'test',
  schedule: 'schedule',
  'retry-after': 'retry-after',
} as const satisfies Record<NextTryReason, string>

/** Explanations for people of the time of the next try, or of why there is no next try. */
export const NEXT_TRY_TEXT = {
  delivered: 'the events are delivered',
  gone: 'the answer 410 disables the webhook',
  'tries-exhausted': 'no tries are left; the list can be replayed',
  test: 'a test is sent once',
  schedule: 'by the schedule of tries',
  'retry-after': 'requested by the answer (Retry-After)',
} as const satisfies Record<NextTryReason, string>

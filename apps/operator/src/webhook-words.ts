import {
  nextTryReason,
  OtherKeyError,
  previousUntil,
  webhookEventTypes,
  type PushAttempt,
  type ReplayTask,
  type Webhook,
  type WebhookBacklog,
  type WebhookId,
  type WebhookRefusal,
} from '@gateway/core/webhooks'
import {
  NEXT_TRY_REASON,
  NEXT_TRY_TEXT,
  PAUSED_TEXT,
  PUSH_FAILURE,
  PUSH_RESULT,
  REPLAY_STATE,
  REPLAY_TEXT,
  URL_RULE,
} from '@gateway/wire'
import { Refused } from './command.ts'
import type { Json, Row } from './output.ts'
import { counted, timeJson, timeText } from './show.ts'

/** Formats a webhook for programs, without its secrets. */
export const webhookJson = (webhook: Webhook) => ({
  id: webhook.id,
  account: webhook.account,
  url: webhook.url,
  eventTypes: webhook.events,
  listSize: webhook.listSize,
  withText: webhook.withText,
  state: webhook.state,
  pausedFor: webhook.pausedFor ?? null,
  created: timeJson(webhook.created),
  failingSince: timeJson(webhook.failingSince),
  previousSecretUntil: timeJson(previousUntil(webhook)),
})

export const backlogJson = ({ events, lists, dead }: WebhookBacklog): { readonly [name: string]: Json } => ({
  events,
  lists,
  deadLists: dead,
})

/** Formats a webhook for people. */
export const webhookText = (webhook: Webhook): string =>
  [
    `Webhook ${webhook.id} of account ${webhook.account}: ${stateText(webhook)}`,
    `URL            ${webhook.url}`,
    `Events         ${webhook.events.join(', ')}`,
    `In a request   ${webhook.listSize === 1 ? '1 event' : `1 to ${webhook.listSize} events`}, ${webhook.withText ? 'with' : 'without'} the text of messages`,
    `Since          ${timeText(webhook.created)} (GMT+2)`,
    ...(webhook.failingSince === undefined ? [] : [`Failing since  ${timeText(webhook.failingSince)} (GMT+2)`]),
  ].join('\n')

export const backlogText = ({ events, lists, dead }: WebhookBacklog): string =>
  `Waiting        ${counted(events, 'event')}, ${counted(lists, 'list')} being tried, ${counted(dead, 'dead list')}`

export function stateText({ state, pausedFor, failingSince }: Webhook): string {
  if (state === 'disabled') return 'disabled: the server answered 410'
  if (state === 'paused') return pausedFor === undefined ? 'paused' : PAUSED_TEXT[pausedFor]
  return failingSince === undefined ? 'active' : 'active, but failing'
}

/** Column heads of `attemptRow`. */
export const attemptHead = ['TIME (GMT+2)', 'LIST', 'TRY', 'MS', 'ANSWER', 'RESULT', 'NEXT TRY', 'WHY']

export function attemptRow(attempt: PushAttempt): Row {
  const { list, tries, at, answer, verdict, next, events } = attempt
  const isAnswered = answer.outcome === 'answered'
  const reason = nextTryReason(attempt)
  const response = isAnswered ? `${answer.status} ${answer.beginning.slice(0, 60)}` : PUSH_FAILURE[answer.failure]
  return {
    json: {
      list,
      eventIds: events,
      try: tries,
      time: timeJson(at),
      milliseconds: answer.milliseconds,
      httpStatus: isAnswered ? answer.status : null,
      failure: isAnswered ? null : PUSH_FAILURE[answer.failure],
      answerText: isAnswered ? answer.beginning : '',
      result: PUSH_RESULT[verdict],
      nextTry: timeJson(next),
      nextReason: NEXT_TRY_REASON[reason],
    },
    cells: [
      timeText(at),
      list,
      String(tries),
      String(answer.milliseconds),
      response.trim(),
      PUSH_RESULT[verdict],
      timeText(next),
      NEXT_TRY_TEXT[reason],
    ],
  }
}

/** Formats a replay for programs. */
export const replayJson = (task: ReplayTask): { readonly [name: string]: Json } => {
  const { id, webhook, replay, state, events, waiting, upTo, started, ended } = task
  return {
    id,
    webhook,
    state: REPLAY_STATE[state],
    event: replay.kind === 'event' ? replay.event : null,
    fromTime: replay.kind === 'period' ? timeJson(replay.from) : null,
    toTime: replay.kind === 'period' ? timeJson(replay.to) : null,
    dead: replay.kind === 'dead',
    events,
    waiting,
    reached: replay.kind === 'period' ? timeJson(upTo) : null,
    started: timeJson(started),
    ended: timeJson(ended),
  }
}

/** Formats a replay for people. */
export const replayText = ({ id, webhook, state, events, waiting }: ReplayTask): string =>
  `Replay ${id} of webhook ${webhook} ${REPLAY_TEXT[state]}: ${counted(events, 'event')}, of which ${waiting} ${waiting === 1 ? 'waits' : 'wait'} to be pushed.`

export const noSuchWebhook = (id: WebhookId): Refused => new Refused(`There is no webhook ${id}.`)

/** Help text of the option `--despite-key`. */
export const despiteKeyText =
  'proceed even if the stored secrets cannot be read with SECRETS_KEY because the key was lost'

/**
 * Waits until a secret is stored. If this process does not have the key of the stored secrets, throws a Refused that
 * says what to do.
 */
export async function withKeyInUse<Result>(storing: Promise<Result>): Promise<Result> {
  return storing.catch((problem: unknown) => {
    if (!(problem instanceof OtherKeyError)) throw problem
    throw new Refused(
      `${problem.message}\nNothing was stored, and no key was created. If the key is lost, --despite-key proceeds with the key of this process: see docs/operations/run.md.`,
    )
  })
}

/** Converts a refusal of core into an error for the operator. */
export function webhookRefused(refusal: WebhookRefusal): Refused {
  if (refusal === 'no-events') return new Refused('A webhook needs at least one event.')
  if (refusal === 'unknown-event') return new Refused(`The events are ${webhookEventTypes.join(', ')}.`)
  if (refusal === 'list-size-out-of-range') return new Refused('A request carries 1 to 100 events.')
  return new Refused(`The URL must be ${URL_RULE[refusal]}.`)
}

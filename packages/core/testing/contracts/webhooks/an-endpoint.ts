import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import {
  defaultEventTypes,
  type ClaimedList,
  type Claiming,
  type NewWebhook,
  type PushAnswer,
  type PushResult,
  type Replay,
  type SealedSecret,
  type Webhook,
} from '@gateway/core/webhooks'
import { longAgo } from '../shared.ts'

export const aWebhook = (account: AccountId, fields: Partial<NewWebhook> = {}): NewWebhook => ({
  account,
  url: 'https://example.com/events',
  events: defaultEventTypes,
  listSize: 100,
  withText: false,
  secret: 'sealed' as SealedSecret,
  ...fields,
})

/** Adds an endpoint, or fails the test. */
export async function added({ webhooks }: Pick<StoredPorts, 'webhooks'>, webhook: NewWebhook): Promise<Webhook> {
  const one = await webhooks.add(webhook, longAgo)
  return typeof one === 'string' ? assert.fail(`the endpoint was refused: ${one}`) : one
}

export const claiming: Claiming = { listsMax: 100, perWebhookMax: 5, rooms: new Map(), leaseSeconds: 600 }

/** Runs a replay until all its events wait to be pushed, and returns their number. */
export async function replayed({ webhooks }: Pick<StoredPorts, 'webhooks'>, webhook: Webhook, replay: Replay) {
  const begun = await webhooks.startReplay(webhook.account, webhook.id, replay)
  if (begun === undefined || !('started' in begun)) assert.fail('the replay was not begun')
  while ((await webhooks.advanceReplay()) === 'more');
  const task = await webhooks.findReplay(webhook.account, webhook.id)
  assert.deepEqual([task?.id, task?.state, task?.replay], [begun.started.id, 'done', replay])
  return task?.events
}

/** Claims every due list and records this answer for it. */
export async function pushAll(ports: Pick<StoredPorts, 'webhooks'>): Promise<readonly ClaimedList[]> {
  const all: ClaimedList[] = []
  for (;;) {
    const lists = await ports.webhooks.claim(claiming)
    if (lists.length === 0) return all
    all.push(...lists)
    await ports.webhooks.record(lists.map((list) => resultOf(list)))
  }
}

export const answered = (status: number): PushAnswer => ({
  outcome: 'answered',
  status,
  retryAfterSeconds: undefined,
  beginning: 'ok',
  milliseconds: 7,
})

/** Returns the result of a push, delivered by default. */
export const resultOf = (
  { id, tries }: Pick<ClaimedList, 'id' | 'tries'>,
  fields: Partial<PushResult> = {},
): PushResult => ({
  list: id,
  tries,
  at: longAgo,
  answer: answered(204),
  verdict: 'delivered',
  next: undefined,
  ...fields,
})

import type { AccountId } from '../accounts/account.ts'
import type { Ports } from '../ports.ts'
import type { WebhookId } from './webhook.ts'
import type { Replay, ReplayTask } from './webhooks.ts'

/**
 * Starts to push stored events again: one event, the events of a period (without its end), or all dead lists. Events
 * keep their ids and are sent in new lists. One replay of an account runs at a time.
 */
export const startReplay =
  (ports: Pick<Ports, 'webhooks'>) =>
  async (
    by: AccountId | undefined,
    id: WebhookId,
    replay: Replay,
  ): Promise<
    { readonly started: ReplayTask } | { readonly running: ReplayTask } | 'no-such-webhook' | 'empty-period'
  > => {
    if ((await ports.webhooks.find(by, id)) === undefined) return 'no-such-webhook'
    if (replay.kind === 'period' && replay.from >= replay.to) return 'empty-period'
    return (await ports.webhooks.startReplay(by, id, replay)) ?? 'no-such-webhook'
  }

type Look = (by: AccountId | undefined, id: WebhookId) => Promise<ReplayTask | 'no-such-webhook' | 'no-replay'>

/** Returns the latest replay of an endpoint with its progress. */
export const showReplay =
  (ports: Pick<Ports, 'webhooks'>): Look =>
  async (by, id) => {
    if ((await ports.webhooks.find(by, id)) === undefined) return 'no-such-webhook'
    return (await ports.webhooks.findReplay(by, id)) ?? 'no-replay'
  }

/**
 * Stops the latest replay: its waiting events are not pushed. A finished replay without waiting events does not change.
 */
export const stopReplay =
  (ports: Pick<Ports, 'webhooks'>): Look =>
  async (by, id) => {
    if ((await ports.webhooks.find(by, id)) === undefined) return 'no-such-webhook'
    return (await ports.webhooks.stopReplay(by, id)) ?? 'no-replay'
  }

import type { AccountId } from '../account/account.ts'
import type { Ports } from '../ports.ts'
import type { WebhookId } from './webhook.ts'
import type { Replay } from './webhooks.ts'

/**
 * Pushes again what is still stored: one event, what happened in a period (its end is no part of it), or all dead lists. Returns how many
 * events; 0 also if there is no such event. They keep their ids, in new lists.
 */
export const replayEvents =
  (ports: Pick<Ports, 'webhooks' | 'clock'>) =>
  async (
    by: AccountId | undefined,
    id: WebhookId,
    replay: Replay,
  ): Promise<number | 'no-such-webhook' | 'empty-period'> => {
    if ((await ports.webhooks.find(by, id)) === undefined) return 'no-such-webhook'
    if (replay.what === 'period' && replay.from >= replay.to) return 'empty-period'
    return (await ports.webhooks.replay(by, id, replay, ports.clock.now())) ?? 'no-such-webhook'
  }

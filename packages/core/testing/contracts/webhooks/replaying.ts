import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import { OUTCOME } from '@gateway/core/messages'
import type { NewWebhook, Replay, ReplayTask, Webhook } from '@gateway/core/webhooks'
import { anAccount } from '../../builders.ts'
import { eventsOf } from '../../events-of.ts'
import { traffic } from '../claimed-batches/traffic.ts'
import { receiptsFor, sentMessages } from '../delivery-receipts/sent-messages.ts'
import { concurrentCallers, farAhead, longAgo, type Contract } from '../shared.ts'
import { added, answered, aWebhook, claiming, pushAll, replayed, resultOf } from './an-endpoint.ts'

const everything: Replay = { kind: 'period', from: longAgo, to: farAhead }
const dead: Replay = { kind: 'dead' }

/** Creates an endpoint with `to` waiting events. */
async function waiting(ports: StoredPorts, to: number, fields: Partial<NewWebhook> = {}) {
  const { account, batch } = await sentMessages(traffic(ports), { to })
  const webhook = await added(ports, aWebhook(account, fields))
  await ports.deliveryReceipts.apply(receiptsFor(batch, OUTCOME.delivered))
  return { account, webhook }
}

async function started(ports: StoredPorts, { account, id }: Webhook, replay: Replay): Promise<ReplayTask> {
  const begun = await ports.webhooks.startReplay(account, id, replay)
  return begun !== undefined && 'started' in begun ? begun.started : assert.fail('the replay was not begun')
}

const idsOf = (lists: Awaited<ReturnType<typeof pushAll>>) =>
  lists
    .flatMap(eventsOf)
    .map(({ id }) => id)
    .toSorted()

async function fail(ports: StoredPorts): Promise<readonly string[]> {
  const lists = await ports.webhooks.claim(claiming)
  const died = { answer: answered(500), verdict: 'dead', next: undefined } as const
  await ports.webhooks.record(lists.map((list) => resultOf(list, died)))
  return idsOf(lists)
}

/**
 * Contract of replays: each returns at once and runs as a task, one at a time per account, and queues each event once.
 */
export const replaying: Contract<StoredPorts> = {
  'a replay is stored at once, does nothing before a worker advances it, and reports its progress': async (ports) => {
    const { webhook } = await waiting(ports, 3)
    const before = idsOf(await pushAll(ports))
    const begun = await started(ports, webhook, everything)
    const { state, events, replay, ended } = begun
    assert.deepEqual(
      { state, events, replay, ended },
      { state: 'running', events: 0, replay: everything, ended: undefined },
    )
    assert.deepEqual(await ports.webhooks.findReplay(webhook.account, webhook.id), begun)
    assert.deepEqual(await pushAll(ports), [])
    while ((await ports.webhooks.advanceReplay()) === 'more');
    const found = await ports.webhooks.findReplay(undefined, webhook.id)
    assert.deepEqual([found?.id, found?.state, found?.events, found?.waiting], [begun.id, 'done', 3, 3])
    assert.ok((found?.ended ?? 0) >= begun.started)
    assert.deepEqual(idsOf(await pushAll(ports)), before)
    assert.equal((await ports.webhooks.findReplay(undefined, webhook.id))?.waiting, 0)
    assert.equal(await ports.webhooks.advanceReplay(), 'none')
  },

  'an account has one running replay at a time, over all its endpoints and concurrent requests; accounts are independent':
    async (ports) => {
      const { account, webhook } = await waiting(ports, 2)
      const second = await added(ports, aWebhook(account))
      const { webhook: others } = await waiting(ports, 2)
      await pushAll(ports)
      const begin = (i: number) => ports.webhooks.startReplay(account, (i % 2 === 0 ? webhook : second).id, everything)
      const answers = await Promise.all(Array.from({ length: concurrentCallers }, (_, i) => begin(i)))
      const begun = answers.flatMap((answer) => (answer !== undefined && 'started' in answer ? answer.started : []))
      assert.equal(begun.length, 1)
      const running = answers.flatMap((answer) =>
        answer !== undefined && 'running' in answer ? answer.running.id : [],
      )
      assert.deepEqual(new Set(running), new Set(begun.map(({ id }) => id)))
      await started(ports, others, everything)
      while ((await ports.webhooks.advanceReplay()) === 'more');
      assert.equal((await ports.webhooks.findReplay(undefined, others.id))?.events, 2)
      await started(ports, webhook, everything)
    },

  'an event that was replayed is not replayed again, also with concurrent workers': async (ports) => {
    const { webhook } = await waiting(ports, 20, { listSize: 3 })
    const before = idsOf(await pushAll(ports))
    for (let times = 0; times < 3; times++) {
      await started(ports, webhook, everything)
      const work = async (): Promise<void> => {
        while ((await ports.webhooks.advanceReplay()) !== 'none');
      }
      await Promise.all(Array.from({ length: 8 }, work))
      assert.deepEqual(idsOf(await pushAll(ports)), before)
    }
  },

  'of dead lists each event is replayed once, however many lists have it, and again once it is dead again': async (
    ports,
  ) => {
    const { webhook } = await waiting(ports, 4, { listSize: 2 })
    const before = await fail(ports)
    assert.equal(await replayed(ports, webhook, everything), 4)
    assert.deepEqual(await fail(ports), before)
    assert.equal((await ports.webhooks.backlog(webhook.id)).dead, 4)
    assert.equal(await replayed(ports, webhook, dead), 4)
    assert.equal((await ports.webhooks.backlog(webhook.id)).dead, 0)
    assert.deepEqual(await fail(ports), before)
    assert.equal(await replayed(ports, webhook, dead), 4)
    assert.deepEqual(idsOf(await pushAll(ports)), before)
    assert.equal(await replayed(ports, webhook, dead), 0)
  },

  'a stopped replay pushes nothing more, and another one can start': async (ports) => {
    const { account, webhook } = await waiting(ports, 3)
    const before = idsOf(await pushAll(ports))
    await started(ports, webhook, everything)
    const stop = () => ports.webhooks.stopReplay(account, webhook.id)
    assert.equal((await stop())?.state, 'stopped')
    assert.equal(await ports.webhooks.advanceReplay(), 'none')
    assert.equal(await replayed(ports, webhook, everything), 3)
    const { state, events, waiting: waitingEvents } = (await stop()) ?? assert.fail('no replay')
    assert.deepEqual(
      { state, events, waiting: waitingEvents },
      { state: 'stopped', events: 0, waiting: 0 },
      'what waits is dropped',
    )
    assert.deepEqual(await pushAll(ports), [])
    assert.equal(await replayed(ports, webhook, everything), 3)
    assert.deepEqual(idsOf(await pushAll(ports)), before)
    assert.equal((await stop())?.state, 'done', 'nothing of it waits')
  },

  'removing an endpoint ends its replay, and another account cannot see it': async (ports) => {
    const { account, webhook } = await waiting(ports, 2)
    const second = await added(ports, aWebhook(account))
    const { id: stranger } = await anAccount(ports)
    await pushAll(ports)
    await started(ports, webhook, everything)
    const calls = (by: AccountId) => [
      ports.webhooks.startReplay(by, webhook.id, everything),
      ports.webhooks.findReplay(by, webhook.id),
      ports.webhooks.stopReplay(by, webhook.id),
    ]
    assert.deepEqual(await Promise.all(calls(stranger)), [undefined, undefined, undefined])
    assert.equal(await ports.webhooks.findReplay(account, second.id), undefined)
    await ports.webhooks.remove(account, webhook.id)
    assert.deepEqual(await Promise.all(calls(account)), [undefined, undefined, undefined])
    assert.equal(await replayed(ports, second, everything), 0)
  },
}

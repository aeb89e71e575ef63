import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { Asleep, Sleeper } from '@gateway/core/dispatch'
import { anAccount, aNumber } from '../../builders.ts'
import { until } from '../../until.ts'
import { withTraffic, type Traffic } from './traffic.ts'
import { receive, sent } from '../inbox/inbound-messages.ts'
import { at, farAhead, longAgo, type Contract } from '../shared.ts'
import { added, aWebhook, pushAll } from '../webhooks/an-endpoint.ts'

interface Watched {
  readonly sleeper: Sleeper
  /** Registers a sleeper. Resolves when it can be woken. */
  sleep(): Promise<Asleep>
  /** Returns how often the sleeper was woken. */
  woken(): number
  /** Registers a sleeper, does the work, and waits until the work has woken the sleeper. */
  wokenBy(work: () => Promise<unknown>): Promise<void>
}

function watch({ claimedBatches }: Pick<StoredPorts, 'claimedBatches'>): Watched {
  let woken = 0
  const sleeper = claimedBatches.sleeper(() => woken++)
  const sleep = () =>
    until(async () => {
      const asleep = await sleeper.sleep()
      return asleep !== 'deaf' && asleep
    })
  return {
    sleeper,
    sleep,
    woken: () => woken,
    wokenBy: async (work) => {
      await sleep()
      const before = woken
      await work()
      await until(() => woken > before)
    },
  }
}

/** Closes the sleepers after each check. */
const withSleepers = (
  promises: Readonly<Record<string, (traffic: Traffic, sleeper: () => Watched) => Promise<void>>>,
): Contract<StoredPorts> =>
  withTraffic(
    Object.fromEntries(
      Object.entries(promises).map(([promise, check]) => [
        promise,
        async (traffic: Traffic) => {
          const watched: Watched[] = []
          const added = () => at(watched, watched.push(watch(traffic.ports)) - 1)
          try {
            await check(traffic, added)
          } finally {
            await Promise.all(watched.map(({ sleeper }) => sleeper.close()))
          }
        },
      ]),
    ),
  )

/** Promises of `ClaimedBatches.sleeper`. */
export const sleeping: Contract<StoredPorts> = withSleepers({
  'a sleeper is woken by every accepted message, in either lane': async (traffic, sleeper) => {
    const account = await traffic.account()
    const [one, other] = [sleeper(), sleeper()]
    for (const to of [1, 20, 1]) await one.wokenBy(() => other.wokenBy(() => traffic.send(account, { to })))
  },

  'a scheduled message wakes a sleeper, and a new sleeper learns when the next one is due': async (
    traffic,
    sleeper,
  ) => {
    const account = await traffic.account()
    const watched = sleeper()
    assert.deepEqual(await watched.sleep(), { nextDueMilliseconds: undefined })
    await watched.wokenBy(() => traffic.send(account, { due: farAhead }))
    const { nextDueMilliseconds = 0 } = await watched.sleep()
    assert.ok(nextDueMilliseconds > 100 * 365 * 86_400_000 && nextDueMilliseconds < farAhead)
    const { claimedBatches } = traffic.ports
    const [id] = await traffic.send(account)
    const dispatcher = await traffic.dispatcher()
    const batch = await traffic.claim(dispatcher)
    await claimedBatches.postpone(dispatcher, batch.id, id === undefined ? [] : [id], 0)
    assert.ok(((await watched.sleep()).nextDueMilliseconds ?? Infinity) < 60_000)
  },

  'messages that become due wake a sleeper when they are promoted': async (traffic, sleeper) => {
    const { claimedBatches } = traffic.ports
    const [id] = await traffic.send(await traffic.account())
    const dispatcher = await traffic.dispatcher()
    const batch = await traffic.claim(dispatcher)
    await claimedBatches.postpone(dispatcher, batch.id, id === undefined ? [] : [id], 0)
    await sleeper().wokenBy(() => until(async () => (await claimedBatches.promote(10)) > 0))
  },

  'messages that a dispatcher gives back or leaves wake another dispatcher': async (traffic, sleeper) => {
    const { claimedBatches } = traffic.ports
    await traffic.send(await traffic.account(), { to: 20 })
    const [first, second] = [await traffic.dispatcher(), await traffic.dispatcher()]
    const watched = sleeper()
    await traffic.claim(first, 'bulk', 20, 0)
    await watched.wokenBy(() => claimedBatches.retire(first))
    await traffic.claim(second, 'bulk', 20, 0)
    await watched.wokenBy(() => traffic.fence(second))
  },

  'the confirmation of an opt-out wakes a sleeper': async ({ ports }, sleeper) => {
    await sent(ports, await anAccount(ports))
    await sleeper().wokenBy(() => receive(ports, { text: 'STOP' }))
  },

  'an event that is stored on request wakes the pushing process': async (traffic, sleeper) => {
    const { ports } = traffic
    const account = await traffic.account()
    const scheduled = await traffic.send(account, { due: farAhead })
    const { id } = await added(ports, aWebhook(account))
    const number = aNumber()
    const watched = sleeper()
    const optOut = { scope: account, number, kind: 'opt-out' } as const
    await watched.wokenBy(() => ports.suppressions.add({ ...optOut, since: longAgo }))
    await watched.wokenBy(() => ports.suppressions.remove(optOut))
    await watched.wokenBy(() => ports.suppressions.addAll(account, 'opt-out', [{ number, since: longAgo }]))
    await watched.wokenBy(() => ports.messages.deleteScheduled(account, scheduled, longAgo))
    await watched.wokenBy(() => ports.webhooks.addTest(account, id, longAgo))
    await watched.wokenBy(() => ports.webhooks.change(account, id, { state: 'active' }, longAgo))
    await pushAll(ports)
    await watched.wokenBy(() =>
      ports.webhooks.startReplay(account, id, { kind: 'period', from: longAgo, to: farAhead }),
    )
    await watched.wokenBy(() => ports.webhooks.advanceReplay())
  },

  'processes that are awake or closed are not notified': async (traffic, sleeper) => {
    const account = await traffic.account()
    const [rouser, closed] = [sleeper(), sleeper()]
    for (const watched of [rouser, closed]) {
      await watched.sleep()
      await watched.sleep()
    }
    await rouser.sleeper.awake()
    await rouser.sleeper.awake()
    await closed.sleeper.close()
    const before = [rouser.woken(), closed.woken()]
    for (let i = 0; i < 10; i++) await traffic.send(account)
    // A sleeper that registers later does not receive earlier notifications.
    await rouser.sleep()
    assert.deepEqual([rouser.woken(), closed.woken()], before)
  },

  'with any concurrency, each sleeper is woken by messages accepted while it sleeps': async (traffic, sleeper) => {
    const rounds = async () => {
      const account = await traffic.account()
      const watched = sleeper()
      for (let round = 0; round < 20; round++) {
        await watched.wokenBy(() => traffic.send(account))
        if (round % 2 === 0) await watched.sleeper.awake()
      }
    }
    await Promise.all(Array.from({ length: 8 }, rounds))
  },
})

import { setImmediate } from 'node:timers/promises'
import { memoryPorts, scriptedWebhookClient, until } from '@gateway/core/testing'
import { createLog } from '@gateway/server'
import { startPushing, type Pushing } from './push.ts'

const log = createLog({ level: 'silent', name: 'test' })
let pushing: Pushing | undefined
afterEach(() => pushing?.stop(1))

/** Starts pushing on ports that wake it when they store events, and counts its polls for events and for replays. */
function start(quietMilliseconds = () => 1000, isSoundAsleep = () => false) {
  const ports = memoryPorts()
  let looks = 0
  let replayLooks = 0
  const webhooks: typeof ports.webhooks = {
    ...ports.webhooks,
    claim: (...args) => {
      looks += 1
      return ports.webhooks.claim(...args)
    },
    advanceReplay: () => {
      replayLooks += 1
      return ports.webhooks.advanceReplay()
    },
  }
  pushing = startPushing({
    ports: { ...ports, webhooks, webhookClient: scriptedWebhookClient() },
    log,
    ...{ quietMilliseconds, isSoundAsleep },
  })
  return { pushing, waking: pushing.waking(ports), looks: () => looks, replayLooks: () => replayLooks }
}

const calls = {
  'matching receipts': ({ deliveryReceipts }) => deliveryReceipts.match(10),
  recovering: ({ claimedBatches }) => claimedBatches.recover(),
  expiring: ({ claimedBatches }) => claimedBatches.expire(60, 10),
} satisfies Record<string, (ports: ReturnType<typeof start>['waking']) => Promise<unknown>>

test.each(Object.entries(calls))('%s that changes nothing does not look for events', async (_what, call) => {
  const { waking, looks } = start()
  await until(() => looks() > 0)
  // A process with events polls every 50 ms, one without once a second.
  const [begun, before] = [performance.now(), looks()]
  const seconds = () => (performance.now() - begun) / 1000
  while (seconds() < 0.5) {
    await call(waking)
    await setImmediate()
  }
  expect(looks() - before).toBeLessThanOrEqual(1 + seconds())
})

test('applied receipts are pushed at once', async () => {
  const { waking, looks } = start()
  await until(() => looks() > 0)
  const before = looks()
  await waking.deliveryReceipts.apply([])
  await until(() => looks() > before)
})

test('without stored events the database is polled rarely, and at once after a wake-up', async () => {
  const { pushing, looks } = start(() => 3_600_000)
  await until(() => looks() > 0)
  const before = looks()
  pushing.wake()
  await until(() => looks() > before)
})

test('a process that sleeps looks for replays only when it is notified', async () => {
  const { pushing, looks, replayLooks } = start(
    () => 250,
    () => true,
  )
  await until(() => looks() > 2)
  expect(replayLooks()).toBe(1)
  pushing.wake()
  await until(() => replayLooks() === 2)
})

import { createGateway } from '@gateway/core'
import type { WebhookTotal } from '@gateway/core/webhooks'
import { anAccount, memoryPorts, numbers, steppingClock } from '@gateway/core/testing'
import { createMetrics } from '@gateway/server'
import { measureWaiting } from './dispatch-metrics.ts'

const url = 'https://crm.example.com/events'

const webhookLines = async (metrics: ReturnType<typeof createMetrics>): Promise<readonly string[]> =>
  (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith('gateway_webhook'))

test('metrics report the state of endpoints, the waiting events, and their age', async () => {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const account = await anAccount(ports)
  const gateway = createGateway(ports)
  const made = [
    await gateway.commands.addWebhook(account, { url }),
    await gateway.commands.addWebhook(account, { url }),
  ]
  const [, paused] = made.map((one) => (typeof one === 'string' ? undefined : one.webhook))
  if (paused === undefined) throw new Error('no endpoint')
  await gateway.commands.changeWebhook(account, paused.id, { state: 'paused' })
  const since = ports.clock.now()
  await ports.suppressions.addAll(
    account.id,
    'opt-out',
    numbers(3).map((number) => ({ number, since })),
  )
  const metrics = createMetrics()
  measureWaiting(metrics, ports.webhooks, clock)
  clock.step(60)
  const lines = await webhookLines(metrics)
  expect(lines).toEqual(
    expect.arrayContaining([
      'gateway_webhooks{state="active"} 1',
      'gateway_webhooks{state="failing"} 0',
      'gateway_webhooks{state="paused"} 1',
      'gateway_webhooks{state="disabled"} 0',
      'gateway_webhook_waiting_events{state="active"} 3',
      'gateway_webhook_waiting_events{state="paused"} 3',
      'gateway_webhook_waiting_lists{state="active"} 0',
      'gateway_webhook_dead_lists{state="active"} 0',
      'gateway_webhook_oldest_seconds{state="failing"} 0',
    ]),
  )
  expect(lines.find((line) => line.startsWith('gateway_webhook_oldest_seconds{state="active"}'))).toMatch(/ 60$/)
})

test('many scrapes cost one query, and are answered without its result while the database does not answer', async () => {
  const clock = steppingClock()
  let looks = 0
  let answer = (): Promise<readonly WebhookTotal[]> => new Promise(() => undefined)
  const metrics = createMetrics()
  measureWaiting(metrics, { totals: () => (looks++, answer()) }, clock)
  const scrapes = await Promise.all([webhookLines(metrics), webhookLines(metrics)])
  expect(scrapes).toEqual([[], []])
  expect(looks).toBe(1)
  const failing = createMetrics()
  measureWaiting(failing, { totals: () => (looks++, Promise.reject(new Error('away'))) }, clock)
  expect(await webhookLines(failing)).toEqual([])
  answer = () =>
    Promise.resolve([{ condition: 'active', endpoints: 1, events: 2, lists: 3, dead: 4, oldest: undefined }])
  looks = 0
  const working = createMetrics()
  measureWaiting(working, { totals: () => (looks++, answer()) }, clock)
  for (let scraped = 0; scraped < 3; scraped++)
    expect(await webhookLines(working)).toContain('gateway_webhook_dead_lists{state="active"} 4')
  expect(looks).toBe(1)
})

import { anAccount, memoryPorts, numbers, scriptedWebhookClient, steppingClock, until } from '@gateway/core/testing'
import { createBackOffice } from '../back-office.ts'
import { createGateway } from '../gateway.ts'
import { secondsAfter } from '../time/instant.ts'
import { EventPusher, pushDefaults, type PushOptions } from './push-events.ts'
import { retryPausesSeconds } from './push-schedule.ts'
import type { SealedSecret } from './secret-box.ts'
import type { PushAnswer } from './webhook-client.ts'
import type { Webhook } from './webhook.ts'

const [good, dead] = ['https://good.example.com', 'https://dead.example.com'] as const

async function world() {
  const clock = steppingClock()
  const webhookClient = scriptedWebhookClient()
  const ports = { ...memoryPorts({ clock }), webhookClient }
  const account = await anAccount(ports)
  const gateway = createGateway(ports)
  const problems: unknown[] = []
  const calls = { roomAgain: 0 }
  const pusherOf = (settings: PushOptions['settings'] = {}, own: Partial<typeof ports> = {}) =>
    new EventPusher(
      { ...ports, ...own },
      {
        bodyOf: (events, now) => JSON.stringify({ now, events }),
        chance: () => 0,
        roomAgain: () => calls.roomAgain++,
        report: (problem) => problems.push(problem),
        unreadable: ({ id, unreadable }) => problems.push({ id, unreadable }),
        settings,
      },
    )
  const added = async (url: string, listSize = 1) => {
    const made = await gateway.commands.addWebhook(account, { url, listSize })
    if (typeof made === 'string') throw new Error(made)
    return made
  }
  let happened = 0
  const happen = async (count: number) => {
    const entries = numbers((happened += count)).slice(-count)
    await ports.suppressions.addAll(
      account.id,
      'opt-out',
      entries.map((number) => ({ number, since: clock.now() })),
    )
  }
  const attempts = async ({ id }: Webhook) =>
    (await ports.webhooks.attempts(account.id, id, { offset: 0, limit: 100 }))?.items ?? []
  const pushedTo = (url: string) => webhookClient.pushed.filter((push) => push.url === url)
  return { clock, ports, webhookClient, account, gateway, pusherOf, added, happen, attempts, pushedTo, problems, calls }
}

/** Pushes everything that is due and stores the results. */
async function pushAll(pusher: EventPusher): Promise<void> {
  await until(async () => {
    const found = await pusher.work()
    const { requests, queued, unstored } = pusher.state()
    return found === 'all' && requests + queued + unstored === 0
  })
}

test('an endpoint has at most 5 requests under way per process, and an unresponsive one delays no other', async () => {
  const { webhookClient, pusherOf, added, happen, pushedTo, ports } = await world()
  const [{ webhook }] = [await added(good), await added(dead)]
  await happen(40)
  const most = { good: 0 }
  webhookClient.answerWith(({ url }) => (url === dead ? 'held' : 204))
  const [one, two] = [pusherOf(), pusherOf()]
  await until(async () => {
    await Promise.all([one.work(), two.work()])
    most.good = Math.max(most.good, one.state().requests + two.state().requests - pushedTo(dead).length)
    return (await ports.webhooks.backlog(webhook.id)).events === 0 && pushedTo(good).length === 40
  })
  expect(most.good).toBeLessThanOrEqual(2 * pushDefaults.perWebhookMax)
  expect(pushedTo(dead)).toHaveLength(2 * pushDefaults.perWebhookMax)
  expect([one.state().requests, two.state().requests]).toEqual(Array(2).fill(pushDefaults.perWebhookMax))
  webhookClient.release(204)
  await until(async () => {
    await Promise.all([one.work(), two.work()])
    webhookClient.release(204)
    return one.counts().delivered + two.counts().delivered === 80
  })
  expect(new Set(pushedTo(dead).map(({ id }) => id)).size).toBe(40)
})

test('a process has at most the configured number of requests under way, and reports when there is room again', async () => {
  const { webhookClient, pusherOf, added, happen, calls } = await world()
  for (const url of [good, dead]) await added(url)
  await happen(10)
  webhookClient.answerWith(() => 'held')
  const pusher = pusherOf({ requestsMax: 3 })
  while ((await pusher.work()) === 'more');
  expect(webhookClient.unansweredMost).toBe(3)
  expect(calls.roomAgain).toBe(0)
  webhookClient.answerWith(() => 204)
  webhookClient.release(204)
  await until(() => calls.roomAgain > 0 && pusher.state().requests === 0)
  expect(webhookClient.unansweredMost).toBe(3)
  expect(pusher.counts()).toEqual({ delivered: 10, failed: 0, events: 10, unreadable: 0, unopened: 0 })
})

test('slow requests do not use up places, however many endpoints do not answer', async () => {
  const { clock, webhookClient, pusherOf, added, happen, pushedTo } = await world()
  for (const url of [dead, dead, dead, good]) await added(url)
  webhookClient.answerWith(({ url }) => (url === dead ? 'held' : 204))
  await happen(5)
  const pusher = pusherOf({ requestsMax: 10 })
  await until(async () => {
    await pusher.work()
    return pusher.state().requests === 10
  })
  const before = pushedTo(good).length
  await happen(1)
  await pusher.work()
  expect([pushedTo(dead).length, pushedTo(good).length]).toEqual([10, before])
  clock.step(2)
  await until(async () => {
    await pusher.work()
    return pushedTo(good).length === 6
  })
  expect(pushedTo(dead)).toHaveLength(15)
})

test('for a fast endpoint many lists are claimed and stored together, with five under way', async () => {
  const { webhookClient, pusherOf, added, happen, ports } = await world()
  await added(good)
  await happen(600)
  const calls = { claim: 0, record: 0 }
  const claim: typeof ports.webhooks.claim = (...args) => (calls.claim++, ports.webhooks.claim(...args))
  const record: typeof ports.webhooks.record = (...args) => (calls.record++, ports.webhooks.record(...args))
  await pushAll(pusherOf({}, { webhooks: { ...ports.webhooks, claim, record } }))
  expect(new Set(webhookClient.pushed.map(({ id }) => id)).size).toBe(600)
  expect(webhookClient.unansweredMost).toBe(pushDefaults.perWebhookMax)
  expect(calls.claim).toBeLessThan(20)
  expect(calls.record).toBeLessThan(40)
})

test('the number of lists claimed for an endpoint grows with its speed, limited by events', async () => {
  const { webhookClient, pusherOf, added, happen, ports } = await world()
  await added(good, 100)
  await happen(30_000)
  const claims: number[] = []
  const claim: typeof ports.webhooks.claim = async (...args) => {
    const lists = await ports.webhooks.claim(...args)
    claims.push(lists.length)
    return lists
  }
  await pushAll(pusherOf({}, { webhooks: { ...ports.webhooks, claim } }))
  expect(webhookClient.pushed).toHaveLength(300)
  expect(claims[0]).toBe(pushDefaults.perWebhookMax)
  expect(Math.max(...claims)).toBeGreaterThan(4 * pushDefaults.perWebhookMax)
  expect(Math.max(...claims)).toBeLessThanOrEqual(100)
})

test('an endpoint without waiting lists is not claimed for again: its events gather until the next poll', async () => {
  const { webhookClient, pusherOf, added, happen, calls } = await world()
  await added(good, 100)
  await happen(7)
  const pusher = pusherOf()
  expect(await pusher.work()).toBe('all')
  await until(() => pusher.state().requests + pusher.state().unstored === 0)
  expect(calls.roomAgain).toBe(0)
  await happen(700)
  await pusher.work()
  await until(() => pusher.state().requests + pusher.state().unstored === 0)
  expect(calls.roomAgain).toBeGreaterThan(0)
  await pushAll(pusher)
  expect(webhookClient.pushed).toHaveLength(8)
})

test('a secret is decrypted once for all lists of a claim', async () => {
  const { pusherOf, added, happen, ports, webhookClient } = await world()
  const { secret } = await added(good)
  await happen(5)
  let opened = 0
  const open: typeof ports.secretBox.open = (sealed) => (opened++, ports.secretBox.open(sealed))
  await pushAll(pusherOf({}, { secretBox: { ...ports.secretBox, open } }))
  expect(webhookClient.pushed.map(({ secrets }) => secrets)).toEqual(Array(5).fill([secret]))
  expect(opened).toBe(1)
})

test('if there are more endpoints than allowed requests, they take turns', async () => {
  const { webhookClient, pusherOf, added, happen, pushedTo } = await world()
  for (const url of [good, dead]) await added(url)
  await happen(5)
  webhookClient.answerWith(() => 'held')
  const pusher = pusherOf({ requestsMax: 2 })
  await pusher.work()
  for (let requests = 2; requests <= 8; requests += 2) {
    await until(() => webhookClient.pushed.length === requests)
    expect([pushedTo(good).length, pushedTo(dead).length]).toEqual([requests / 2, requests / 2])
    webhookClient.release(204)
  }
  webhookClient.answerWith(() => 204)
})

test('a list that was not started in time is released: due at once, with the same number of the attempt', async () => {
  const { clock, webhookClient, pusherOf, added, happen, attempts } = await world()
  const { webhook } = await added(good)
  await happen(5)
  webhookClient.answerWith(() => 'held')
  const pusher = pusherOf({ requestsMax: 1 })
  await pusher.work()
  expect(pusher.state()).toMatchObject({ requests: 1, queued: 4, unstored: 0 })
  clock.step(pushDefaults.beginSeconds + 1)
  webhookClient.release(204)
  await until(() => pusher.state().requests === 0)
  expect(webhookClient.pushed).toHaveLength(1)
  webhookClient.answerWith(() => 204)
  await pushAll(pusher)
  expect(new Set(webhookClient.pushed.map(({ id }) => id)).size).toBe(5)
  expect((await attempts(webhook)).map(({ tries }) => tries)).toEqual([1, 1, 1, 1, 1])
})

test('lists claimed for an endpoint that answered 410 are not pushed before it is active again', async () => {
  const { clock, webhookClient, pusherOf, added, happen, ports } = await world()
  const { webhook } = await added(good)
  await happen(5)
  webhookClient.answerWith(() => 410)
  await pushAll(pusherOf({ requestsMax: 1 }))
  expect(webhookClient.pushed).toHaveLength(1)
  expect(await ports.webhooks.backlog(webhook.id)).toEqual({ events: 0, lists: 5, dead: 0 })
  webhookClient.answerWith(() => 204)
  await ports.webhooks.change(undefined, webhook.id, { state: 'active' }, clock.now())
  await pushAll(pusherOf())
  expect(new Set(webhookClient.pushed.map(({ id }) => id)).size).toBe(5)
})

const answered = (status: number, retryAfterSeconds?: number): PushAnswer => ({
  outcome: 'answered',
  status,
  retryAfterSeconds,
  beginning: 'x',
  milliseconds: 1,
})
const failed = { outcome: 'failed', failure: 'timeout', milliseconds: 15_000 } as const

test.each([
  ['200', answered(200), 'delivered', undefined, 'active'],
  ['299', answered(299), 'delivered', undefined, 'active'],
  ['a redirect', answered(301), 'retry', 5, 'active'],
  ['500', answered(500), 'retry', 5, 'active'],
  ['429 with a longer pause', answered(429, 60), 'retry', 60, 'active'],
  ['503 with a shorter pause', answered(503, 1), 'retry', 5, 'active'],
  ['no answer', failed, 'retry', 5, 'active'],
  ['410', answered(410), 'gone', undefined, 'disabled'],
] as const)('the result of %s is stored', async (_what, answer, verdict, pause, state) => {
  const { clock, webhookClient, pusherOf, added, happen, attempts, ports, account } = await world()
  const { webhook } = await added(good)
  await happen(1)
  webhookClient.answerWith(() => answer)
  await pushAll(pusherOf())
  const next = pause === undefined ? undefined : secondsAfter(clock.now(), pause)
  expect(await attempts(webhook)).toMatchObject([{ tries: 1, at: clock.now(), answer, verdict, next }])
  expect(await ports.webhooks.find(account.id, webhook.id)).toMatchObject({ state })
  const lists = verdict === 'delivered' ? 0 : 1
  expect(await ports.webhooks.backlog(webhook.id)).toEqual({ events: 0, lists, dead: 0 })
})

test('the time of a retry is known if it is soon', async () => {
  const { clock, webhookClient, pusherOf, added, happen } = await world()
  await added(good)
  await happen(1)
  webhookClient.answerWith(() => 500)
  const pusher = pusherOf()
  expect(pusher.state().nextMilliseconds).toBe(Infinity)
  await pushAll(pusher)
  const milliseconds = pusher.state().nextMilliseconds
  expect(milliseconds).toBeGreaterThanOrEqual(5000)
  expect(milliseconds).toBeLessThanOrEqual(5300)
  clock.step(milliseconds / 1000)
  await pushAll(pusher)
  expect(webhookClient.pushed).toHaveLength(2)
  expect(pusher.state().nextMilliseconds).toBe(Infinity)
})

test('all attempts of a list have the same body except for the time, and the list is dead after the last one', async () => {
  const { clock, webhookClient, pusherOf, added, happen, attempts, ports } = await world()
  const { webhook } = await added(good, 10)
  await happen(3)
  webhookClient.answerWith(() => 500)
  const pusher = pusherOf()
  const began = clock.now()
  await pushAll(pusher)
  for (const seconds of retryPausesSeconds) {
    clock.step(seconds - 1)
    await pushAll(pusher)
    clock.step(1)
    await pushAll(pusher)
  }
  const { pushed } = webhookClient
  const bodies = pushed.map(({ body }) => JSON.parse(body) as { now: number; events: readonly object[] })
  expect(pushed).toHaveLength(retryPausesSeconds.length + 1)
  expect(new Set(pushed.map(({ id }) => id)).size).toBe(1)
  expect(new Set(bodies.map(({ events }) => JSON.stringify(events))).size).toBe(1)
  expect(bodies[0]?.events).toHaveLength(3)
  const times = retryPausesSeconds.map((_, i) => retryPausesSeconds.slice(0, i + 1).reduce((sum, pause) => sum + pause))
  const due = [0, ...times].map((seconds) => secondsAfter(began, seconds))
  expect(bodies.map(({ now }) => now)).toEqual(due)
  expect(pushed.map(({ timestamp }) => timestamp)).toEqual(due.map((at) => Math.floor(at / 1000)))
  expect((await attempts(webhook))[0]).toMatchObject({ tries: 10, verdict: 'dead', next: undefined })
  expect(await ports.webhooks.backlog(webhook.id)).toEqual({ events: 0, lists: 0, dead: 1 })
})

test('a test event is tried once', async () => {
  const { webhookClient, pusherOf, added, gateway, account, attempts } = await world()
  const { webhook } = await added(good)
  await gateway.commands.testWebhook(account, webhook.id)
  webhookClient.answerWith(() => 500)
  await pushAll(pusherOf())
  expect(await attempts(webhook)).toMatchObject([{ tries: 1, verdict: 'failed' }])
})

test('during a rotation each secret signs until the end of its overlap, newest first; then only the newest signs', async () => {
  const { clock, webhookClient, pusherOf, added, happen, gateway, account } = await world()
  const first = await added(good)
  const pusher = pusherOf()
  const signedBy = async () => {
    await happen(1)
    await pushAll(pusher)
    return webhookClient.pushed.at(-1)?.secrets
  }
  expect(await signedBy()).toEqual([first.secret])
  const second = await gateway.commands.rotateWebhookSecret(account, first.webhook.id, 2)
  if (typeof second === 'string') throw new Error(second)
  expect(await signedBy()).toEqual([second.secret, first.secret])
  const third = await gateway.commands.rotateWebhookSecret(account, first.webhook.id, 1)
  if (typeof third === 'string') throw new Error(third)
  expect(await signedBy()).toEqual([third.secret, second.secret, first.secret])
  clock.step(3600 - 1)
  expect(await signedBy()).toEqual([third.secret, second.secret, first.secret])
  clock.step(1)
  expect(await signedBy()).toEqual([third.secret, first.secret])
  clock.step(3600)
  expect(await signedBy()).toEqual([third.secret])
})

test('if a secret cannot be decrypted, nothing is sent to its endpoint, the failure is reported, and others are not affected', async () => {
  const { webhookClient, pusherOf, added, happen, attempts, ports, account, problems, clock } = await world()
  await added(good)
  const { webhook } = await added(dead)
  const unreadable = await ports.webhooks.add({ ...webhook, secret: 'of another key' as SealedSecret }, clock.now())
  if (typeof unreadable === 'string') throw new Error(unreadable)
  await ports.webhooks.remove(account.id, webhook.id)
  await happen(1)
  await pushAll(pusherOf())
  expect(webhookClient.pushed.map(({ url }) => url)).toEqual([good])
  const answer = { outcome: 'failed', failure: 'not-signed', milliseconds: 0 }
  expect(await attempts(unreadable)).toMatchObject([{ answer, verdict: 'retry' }])
  expect(problems).toHaveLength(1)
})

test('results that could not be stored are reported, and stored by the next poll without pushing again', async () => {
  const { webhookClient, pusherOf, added, happen, attempts, ports, problems } = await world()
  const { webhook } = await added(good)
  await happen(1)
  let isAway = true
  const record = async (...args: Parameters<typeof ports.webhooks.record>): Promise<void> => {
    if (isAway) throw new Error('away')
    return ports.webhooks.record(...args)
  }
  const pusher = pusherOf({}, { webhooks: { ...ports.webhooks, record } })
  await pusher.work()
  await until(() => pusher.state().requests === 0)
  expect(pusher.state().unstored).toBe(1)
  await expect(pusher.work()).rejects.toThrow('away')
  isAway = false
  await pushAll(pusher)
  expect(problems).toEqual([new Error('away')])
  expect(pusher.state()).toMatchObject({ requests: 0, queued: 0, unstored: 0 })
  expect(await attempts(webhook)).toMatchObject([{ tries: 1, verdict: 'delivered' }])
  expect(webhookClient.pushed).toHaveLength(1)
})

test('results that could not be stored before their lease ended are stored, and their lists are not claimed again', async () => {
  const { clock, webhookClient, pusherOf, added, happen, attempts, ports } = await world()
  const { webhook } = await added(good)
  await happen(5)
  let isAway = true
  const record: typeof ports.webhooks.record = async (results) => {
    if (isAway) throw new Error('away')
    return ports.webhooks.record(results)
  }
  const pusher = pusherOf({}, { webhooks: { ...ports.webhooks, record } })
  await pusher.work()
  await until(() => pusher.state().requests === 0)
  await expect(pusher.work()).rejects.toThrow('away')
  clock.step(pushDefaults.leaseSeconds + 1)
  isAway = false
  await pushAll(pusher)
  expect(webhookClient.pushed).toHaveLength(5)
  expect((await attempts(webhook)).map(({ tries, verdict }) => [tries, verdict])).toEqual(
    Array(5).fill([1, 'delivered']),
  )
})

test('a poll never claims a list again while its request is under way or its result is being stored', async () => {
  const { clock, webhookClient, pusherOf, added, happen, attempts, ports } = await world()
  const { webhook } = await added(good)
  await happen(5)
  let store = (): void => undefined
  const stored = new Promise<void>((resolve) => (store = resolve))
  const record: typeof ports.webhooks.record = async (results) => {
    await stored
    return ports.webhooks.record(results)
  }
  const [pusher, other] = [pusherOf({}, { webhooks: { ...ports.webhooks, record } }), pusherOf()]
  webhookClient.answerWith(() => 'held')
  // A list may wait for `beginSeconds` until it is started, and a request may take another 15 s.
  for (let seconds = 0; seconds < pushDefaults.beginSeconds + 15; seconds++) {
    await Promise.all([pusher.work(), other.work()])
    clock.step(1)
  }
  expect(pusher.state().requests + other.state().requests).toBe(5)
  webhookClient.answerWith(() => 204)
  webhookClient.release(204)
  await until(() => pusher.state().requests + other.state().requests === 0)
  for (let looks = 0; looks < 10; looks++) await other.work()
  store()
  await pushAll(pusher)
  await pushAll(other)
  expect(webhookClient.pushed).toHaveLength(5)
  expect((await attempts(webhook)).map(({ tries }) => tries)).toEqual([1, 1, 1, 1, 1])
})

test('draining stops claims and releases lists under way: due at once, with the same number of the attempt', async () => {
  const { webhookClient, pusherOf, added, happen, attempts } = await world()
  const { webhook } = await added(good)
  await happen(2)
  webhookClient.answerWith(() => 'held')
  const pusher = pusherOf({ requestsMax: 1 })
  await pusher.work()
  expect(pusher.state()).toMatchObject({ requests: 1, queued: 1, unstored: 0 })
  await pusher.drain(Promise.resolve())
  await until(() => pusher.state().requests === 0)
  expect(pusher.state().unstored).toBe(0)
  expect(await pusher.work()).toBe('all')
  expect(await attempts(webhook)).toEqual([])
  webhookClient.answerWith(() => 204)
  await pushAll(pusherOf())
  expect(await attempts(webhook)).toMatchObject([{ tries: 1 }, { tries: 1 }])
})

test('a list with unreadable events fails alone, is reported and counted, and is retried like any other', async () => {
  const { ports, pusherOf, added, happen, attempts, webhookClient, problems } = await world()
  const [{ webhook: spoiled }, { webhook: well }] = [await added(dead), await added(good)]
  await happen(2)
  const webhooks: typeof ports.webhooks = {
    ...ports.webhooks,
    claim: async (claiming) =>
      (await ports.webhooks.claim(claiming)).map((list) =>
        list.webhook.id === spoiled.id ? { ...list, groups: [], unreadable: 3 } : list,
      ),
  }
  const pusher = pusherOf({}, { webhooks })
  await pushAll(pusher)
  expect(pusher.counts()).toEqual({ delivered: 2, failed: 2, events: 2, unreadable: 6, unopened: 0 })
  expect(webhookClient.pushed.map(({ url }) => url)).toEqual([good, good])
  expect(await attempts(spoiled)).toMatchObject(
    [1, 2].map(() => ({ verdict: 'retry', answer: { outcome: 'failed', failure: 'unreadable' } })),
  )
  expect((await attempts(well)).map(({ verdict }) => verdict)).toEqual(['delivered', 'delivered'])
  const lists = (await attempts(spoiled)).map(({ list }) => ({ id: list, unreadable: 3 }))
  expect(problems).toEqual(expect.arrayContaining(lists))
})

test('a body that cannot be created fails its list and does not end the process', async () => {
  const { ports, added, happen, attempts, problems } = await world()
  const { webhook } = await added(good)
  await happen(1)
  const pusher = new EventPusher(ports, {
    bodyOf: () => {
      throw new Error('no body')
    },
    chance: () => 0,
    roomAgain: () => undefined,
    report: (problem) => problems.push(problem),
    unreadable: ({ unreadable }) => problems.push(unreadable),
  })
  await pushAll(pusher)
  expect(await attempts(webhook)).toMatchObject([{ verdict: 'retry', answer: { failure: 'unreadable' } }])
  expect(problems).toEqual([new Error('no body'), 0])
  expect(pusher.counts().unreadable).toBe(1)
})

test('a previous secret that cannot be decrypted is omitted and reported, so that a rotation cures a lost key at once', async () => {
  const { webhookClient, pusherOf, added, happen, attempts, account, ports, problems, clock } = await world()
  const { webhook } = await added(dead)
  const lost = await ports.webhooks.add({ ...webhook, url: good, secret: 'of a lost key' as SealedSecret }, clock.now())
  if (typeof lost === 'string') throw new Error(lost)
  await ports.webhooks.remove(account.id, webhook.id)
  const rotated = await createBackOffice(ports).commands.rotateWebhookSecret(lost.id, 24, { despiteKey: true })
  if (typeof rotated === 'string') throw new Error(rotated)
  expect(rotated.webhook.previous).toHaveLength(1)
  await happen(1)
  const pusher = pusherOf()
  await pushAll(pusher)
  expect(webhookClient.pushed.map(({ secrets }) => secrets)).toEqual([[rotated.secret]])
  expect(await attempts(lost)).toMatchObject([{ verdict: 'delivered' }])
  expect([problems.length, pusher.counts().unopened]).toEqual([1, 1])
})

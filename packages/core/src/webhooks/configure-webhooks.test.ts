import { anAccount, memoryPorts, scriptedWebhookClient, steppingClock } from '@gateway/core/testing'
import { createBackOffice } from '../back-office.ts'
import { createGateway } from '../gateway.ts'
import { instant, secondsAfter } from '../time/instant.ts'
import type { WebhookSettings, WebhookRefusal } from './configure-webhooks.ts'
import type { SealedSecret, SecretBox } from './secret-box.ts'
import { OtherKeyError } from './signing-secrets.ts'
import type { UrlRefusal } from './webhook-client.ts'
import { defaultEventTypes, type WebhookEventId } from './webhook-event.ts'
import { listSizeMax, webhooksMax, type Webhook, type WebhookId } from './webhook.ts'

const url = 'https://crm.example.com/events'

async function world() {
  const clock = steppingClock()
  const webhookClient = scriptedWebhookClient()
  const ports = { ...memoryPorts({ clock }), webhookClient }
  const [account, other] = [await anAccount(ports), await anAccount(ports, { login: 'other' })]
  const gateway = createGateway(ports)
  const added = async (settings: Omit<WebhookSettings, 'url'> = {}, of = account) => {
    const made = await gateway.commands.addWebhook(of, { url, ...settings })
    if (typeof made === 'string') throw new Error(made)
    return made
  }
  return { clock, ports, webhookClient, account, other, gateway, backOffice: createBackOffice(ports), added }
}

test('by default an endpoint gets every event except message.sent, in lists of 100 and without texts', async () => {
  const { added } = await world()
  expect((await added()).webhook).toMatchObject({
    url,
    events: defaultEventTypes,
    listSize: listSizeMax,
    withText: false,
    state: 'active',
  })
  const events = ['optout.added', 'message.sent', 'message.sent']
  const { webhook } = await added({ events, listSize: 1, withText: true })
  expect(webhook).toMatchObject({ events: ['message.sent', 'optout.added'], listSize: 1, withText: true })
})

const wrong: readonly (readonly [string, WebhookSettings & { readonly url: string }, WebhookRefusal])[] = [
  ['no URL', { url: 'x', events: [], listSize: 0 }, 'not-a-url'],
  ['plain http', { url: 'http://crm.example.com', events: ['x'] }, 'not-https'],
  ['no event', { url, events: [], listSize: 0 }, 'no-events'],
  ['an unknown event', { url, events: ['reply.received', 'reply'], listSize: 0 }, 'unknown-event'],
  ['the name of the event that is sent on request only', { url, events: ['test'] }, 'unknown-event'],
  ['lists of none', { url, listSize: 0 }, 'list-size-out-of-range'],
  ['lists of 101', { url, listSize: 101 }, 'list-size-out-of-range'],
  ['lists of 1.5', { url, listSize: 1.5 }, 'list-size-out-of-range'],
]

test.each(wrong)('%s is refused, and nothing is added or changed', async (_what, settings, refusal) => {
  const { added, gateway, account } = await world()
  const { webhook } = await added()
  expect(await gateway.commands.addWebhook(account, settings)).toBe(refusal)
  expect(await gateway.commands.changeWebhook(account, webhook.id, { state: 'paused', ...settings })).toBe(refusal)
  expect(await gateway.queries.listWebhooks(account)).toEqual([webhook])
})

test('every URL that the client refuses is refused with its reason', async () => {
  const { webhookClient, gateway, account } = await world()
  const refusals: readonly UrlRefusal[] = ['credentials-in-url', 'port-not-allowed', 'too-long', 'internal-address']
  for (const refusal of refusals) {
    webhookClient.refuse(() => refusal)
    expect(await gateway.commands.addWebhook(account, { url })).toBe(refusal)
  }
})

test('an account has at most 10 endpoints, also with concurrent additions; those of others do not count', async () => {
  const { added, gateway, account, other } = await world()
  await added({}, other)
  const made = await Promise.all(
    Array.from({ length: webhooksMax + 5 }, () => gateway.commands.addWebhook(account, { url })),
  )
  expect(made.filter((each) => each === 'too-many')).toHaveLength(5)
  const [first] = await gateway.queries.listWebhooks(account)
  expect(first && (await gateway.commands.removeWebhook(account, first.id))).toBe(true)
  await added()
})

test('an endpoint of another account looks like one that does not exist, in every operation (P-10)', async () => {
  const { gateway, account, other, added, ports } = await world()
  const { webhook: foreign } = await added({}, other)
  const calls = (id: WebhookId) => [
    gateway.queries.showWebhook(account, id),
    // Errors in the request are not reported before the ownership is checked.
    gateway.commands.changeWebhook(account, id, { url: 'x' }),
    gateway.commands.changeWebhook(account, id, { state: 'paused' }),
    gateway.commands.rotateWebhookSecret(account, id),
    gateway.commands.rotateWebhookSecret(account, id, -1),
    gateway.commands.removeWebhook(account, id),
    gateway.commands.testWebhook(account, id),
    gateway.commands.startReplay(account, id, { kind: 'dead' }),
    gateway.commands.startReplay(account, id, { kind: 'period', from: instant(1), to: instant(1) }),
    gateway.commands.startReplay(account, id, { kind: 'event', event: 'test-1' as WebhookEventId }),
    gateway.queries.showReplay(account, id),
    gateway.commands.stopReplay(account, id),
    gateway.queries.listAttempts(account, id, { offset: 0, limit: 10 }),
  ]
  expect(await Promise.all(calls(foreign.id))).toEqual(await Promise.all(calls(999 as WebhookId)))
  expect(await ports.webhooks.find(other.id, foreign.id)).toEqual(foreign)
  expect(await gateway.queries.listWebhooks(account)).toEqual([])
})

test('the operator manages the endpoints of all accounts', async () => {
  const { backOffice, account, other, added, gateway } = await world()
  const { webhook: one } = await added()
  const { webhook: two } = await added({}, other)
  expect(await backOffice.queries.listWebhooks(undefined)).toEqual([one, two])
  expect(await backOffice.queries.listWebhooks(other.id)).toEqual([two])
  expect(await backOffice.commands.changeWebhook(two.id, { state: 'paused' })).toMatchObject({
    pausedFor: 'by-request',
  })
  expect(await backOffice.queries.showWebhook(two.id)).toMatchObject({ backlog: { events: 0, lists: 0, dead: 0 } })
  expect(await backOffice.commands.testWebhook(two.id)).toMatch(/^test-/)
  expect(await backOffice.queries.showWebhook(two.id)).toMatchObject({ backlog: { lists: 1 } })
  expect(await backOffice.commands.removeWebhook(two.id)).toBe(true)
  expect(await gateway.queries.listWebhooks(other)).toEqual([])
  expect(await backOffice.commands.addWebhook(account.id, { url })).toMatchObject({ webhook: { account: account.id } })
})

describe('the secret', () => {
  test('is stored encrypted, and differs from any other', async () => {
    const { added, ports } = await world()
    const [one, two] = [await added(), await added()]
    expect(one.secret).toMatch(/^whsec_/)
    expect(one.secret).not.toBe(two.secret)
    expect(one.webhook.secret).not.toBe(one.secret)
    expect(ports.secretBox.open(one.webhook.secret)).toBe(one.secret)
  })

  test('is followed by another one, and still signs for 24 hours or the requested overlap', async () => {
    const { added, ports, gateway, account, clock } = await world()
    const first = await added()
    const { id } = first.webhook
    const rotated = await gateway.commands.rotateWebhookSecret(account, id)
    if (typeof rotated === 'string') throw new Error(rotated)
    const { secret, previous } = rotated.webhook
    expect(ports.secretBox.open(secret)).toBe(rotated.secret)
    expect(previous).toEqual([{ secret: first.webhook.secret, until: secondsAfter(clock.now(), 86_400) }])
    for (const hours of [1, 168]) {
      const again = await gateway.commands.rotateWebhookSecret(account, id, hours)
      if (typeof again === 'string') throw new Error(again)
      expect(again.webhook.previous[0]?.until).toBe(secondsAfter(clock.now(), hours * 3600))
    }
  })

  test('signs until the end of its own overlap, however often it is replaced meanwhile; at most 5 sign at a time', async () => {
    const { added, ports, gateway, account, clock } = await world()
    const first = await added()
    const { id } = first.webhook
    const shown = [first.secret]
    const signing = (webhook: Webhook) =>
      [webhook, ...webhook.previous].map(({ secret }) => shown.indexOf(ports.secretBox.open(secret)))
    const rotate = async (hours: number) => {
      const rotated = await gateway.commands.rotateWebhookSecret(account, id, hours)
      if (typeof rotated === 'string') throw new Error(rotated)
      shown.push(rotated.secret)
      return signing(rotated.webhook)
    }
    expect(await rotate(3)).toEqual([1, 0])
    expect(await rotate(1)).toEqual([2, 1, 0])
    clock.step(3600)
    expect(await rotate(24)).toEqual([3, 2, 0])
    clock.step(2 * 3600)
    expect(await rotate(24)).toEqual([4, 3, 2])
    expect(await rotate(24)).toEqual([5, 4, 3, 2])
    expect(await rotate(24)).toEqual([6, 5, 4, 3, 2])
    expect(await rotate(24)).toEqual([7, 6, 5, 4, 3])
    expect(await rotate(0)).toEqual([8])
  })

  test.each([-1, 169, 1.5, NaN])('is not rotated with an overlap of %d hours', async (hours) => {
    const { added, gateway, account } = await world()
    const { webhook } = await added()
    expect(await gateway.commands.rotateWebhookSecret(account, webhook.id, hours)).toBe('overlap-out-of-range')
    expect(await gateway.queries.listWebhooks(account)).toEqual([webhook])
  })
})

test('a period that ends before or at its start is not replayed', async () => {
  const { added, gateway, account } = await world()
  const { webhook } = await added()
  const period = (from: number, to: number) => ({ kind: 'period', from: instant(from), to: instant(to) }) as const
  expect(await gateway.queries.showReplay(account, webhook.id)).toBe('no-replay')
  expect(await gateway.commands.stopReplay(account, webhook.id)).toBe('no-replay')
  expect(await gateway.commands.startReplay(account, webhook.id, period(2, 2))).toBe('empty-period')
  expect(await gateway.queries.showReplay(account, webhook.id)).toBe('no-replay')
  expect(await gateway.commands.startReplay(account, webhook.id, period(2, 3))).toMatchObject({
    started: { state: 'running' },
  })
  expect(await gateway.commands.startReplay(account, webhook.id, period(2, 3))).toMatchObject({ running: { id: 1 } })
  expect(await gateway.commands.stopReplay(account, webhook.id)).toMatchObject({ id: 1, state: 'stopped' })
})

describe('if this process lacks the key of the stored secrets', () => {
  /** Returns another process on the same store, which has only the key `own`. */
  async function elsewhere({ own = 'b' } = {}) {
    const there = await world()
    const boxOf = (key: string): SecretBox => ({
      ...there.ports.secretBox,
      seal: (secret) => `${key} ${secret}` as SealedSecret,
      open: (sealed) => {
        if (sealed.startsWith(`${key} `)) return sealed.slice(2)
        throw new Error(`sealed with ${sealed.charAt(0)}`)
      },
    })
    const gatewayOf = (key: string) => createGateway({ ...there.ports, secretBox: boxOf(key) })
    const backOffice = createBackOffice({ ...there.ports, secretBox: boxOf(own) })
    return { ...there, boxOf, gatewayOf, own: gatewayOf(own), backOffice }
  }

  test('nothing is added or rotated, and the error gives the reason', async () => {
    const { account, other, gatewayOf, own, backOffice } = await elsewhere()
    const made = await gatewayOf('a').commands.addWebhook(account, { url })
    if (typeof made === 'string') throw new Error(made)
    const { id } = made.webhook
    for (const call of [
      () => own.commands.addWebhook(account, { url }),
      () => own.commands.addWebhook(other, { url }),
      () => own.commands.rotateWebhookSecret(account, id),
      () => backOffice.commands.addWebhook(other.id, { url }),
      () => backOffice.commands.rotateWebhookSecret(id, 0),
    ])
      await expect(call()).rejects.toMatchObject({ message: 'sealed with a', hadNoEffect: true })
    expect(await own.commands.addWebhook(account, { url: 'x' })).toBe('not-a-url')
    expect(await backOffice.queries.listWebhooks(undefined)).toEqual([made.webhook])
  })

  test('the secret of carriers counts as well, and it is enough that one of the two can be decrypted', async () => {
    const { ports, account, boxOf, gatewayOf, own } = await elsewhere()
    const store = (key: string, after: number) =>
      ports.carrierVersions.store(
        { sealed: boxOf(key).seal('x'), digest: 'x', carriers: [], routes: [], storedBy: 'x' },
        after,
        { onPurpose: true },
      )
    await store('a', 0)
    await expect(own.commands.addWebhook(account, { url })).rejects.toThrow(OtherKeyError)
    await store('b', 1)
    expect(await own.commands.addWebhook(account, { url })).toMatchObject({ webhook: { account: account.id } })
    expect(await gatewayOf('b').commands.addWebhook(account, { url })).toMatchObject({
      webhook: { account: account.id },
    })
    await expect(gatewayOf('a').commands.addWebhook(account, { url })).rejects.toThrow(OtherKeyError)
  })

  test('the operator rotates or adds one despite the lost key; afterwards every process can rotate the others', async () => {
    for (const begin of ['rotate', 'add'] as const) {
      const { account, other, boxOf, gatewayOf, own, backOffice } = await elsewhere()
      const [one, two] = [
        await gatewayOf('a').commands.addWebhook(account, { url }),
        await gatewayOf('a').commands.addWebhook(account, { url }),
      ]
      if (typeof one === 'string' || typeof two === 'string') throw new Error('not added')
      const despiteKey = { despiteKey: true }
      if (begin === 'rotate') await backOffice.commands.rotateWebhookSecret(one.webhook.id, 24, despiteKey)
      else await backOffice.commands.addWebhook(other.id, { url }, despiteKey)
      for (const { webhook } of [one, two]) {
        const rotated = await own.commands.rotateWebhookSecret(account, webhook.id)
        if (typeof rotated === 'string') throw new Error(rotated)
        expect(boxOf('b').open(rotated.webhook.secret)).toBe(rotated.secret)
      }
      await expect(gatewayOf('a').commands.rotateWebhookSecret(account, one.webhook.id)).rejects.toThrow(
        'sealed with b',
      )
    }
  })
})

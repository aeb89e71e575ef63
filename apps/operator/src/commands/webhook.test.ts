import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { secretBox } from '@gateway/adapters-node'
import { nextTry, type PushAnswer } from '@gateway/core/webhooks'
import { anAccount } from '@gateway/core/testing'
import { anOperator, type Operator } from '../../testing/operate.ts'

const url = 'https://crm.example.com/sms-events'

async function withWebhook(...options: readonly string[]): Promise<Operator> {
  const operator = anOperator()
  await anAccount(operator.ports)
  await operator.json('webhook', 'add', '--account', '1', '--url', url, ...options)
  return operator
}

/** Claims all waiting lists and records this answer. */
async function push({ ports }: Operator, answer: PushAnswer, verdict: 'delivered' | 'retry' | 'dead'): Promise<void> {
  const [list] = await ports.webhooks.claim({
    listsMax: 1,
    perWebhookMax: 5,
    rooms: new Map(),
    leaseSeconds: 60,
  })
  if (list === undefined) throw new Error('there is nothing to push')
  const at = ports.clock.now()
  const next = verdict === 'retry' ? nextTry(list.tries, answer, at, 0) : undefined
  await ports.webhooks.record([{ list: list.id, tries: list.tries, at, answer, verdict, next }])
}

const shown = {
  id: 1,
  account: 1,
  url,
  eventTypes: ['message.delivered', 'reply.received'],
  listSize: 1,
  withText: true,
  state: 'active',
  pausedFor: null,
  created: '2026-10-18T08:00:00.000Z',
  failingSince: null,
  previousSecretUntil: null,
}

test('a webhook is added with its secret, which is printed once, and shown, listed and removed without it', async () => {
  const operator = anOperator()
  await anAccount(operator.ports)
  const options = ['--events', 'reply.received, message.delivered', '--list-size', '1', '--with-text']
  const added = await operator.json<{ secret: string }>('webhook', 'add', '--account', '1', '--url', url, ...options)
  expect(added).toEqual({ ...shown, secret: expect.stringMatching(/^whsec_/) as string })
  expect(await operator.rows('webhook', 'list')).toEqual([shown])
  expect(await operator.rows('webhook', 'list', '--account', '1')).toEqual([shown])
  const backlog = { events: 0, lists: 0, deadLists: 0 }
  expect(await operator.row('webhook', 'show', '1')).toEqual({ ...shown, backlog })
  expect((await operator.run(['webhook', 'show', '1'])).out).toBe(
    `Webhook 1 of account 1: active
URL            ${url}
Events         message.delivered, reply.received
In a request   1 event, with the text of messages
Since          2026/10/18 10:00:00 (GMT+2)
Waiting        0 events, 0 lists being tried, 0 dead lists
`,
  )
  expect((await operator.run(['webhook', 'list'])).out).toContain(`1   1        active  ${url}\n`)
  expect(await operator.json('webhook', 'remove', '1')).toEqual({ id: 1, removed: true })
  expect(await operator.rows('webhook', 'list')).toEqual([])
  const text = await operator.run(['webhook', 'add', '--account', '1', '--url', url])
  expect(text.out).toMatch(/\nIts signing secret, shown only now:\nwhsec_\S+\n$/)
  expect(text.out).toContain('In a request   1 to 100 events, without the text of messages\n')
})

test('a webhook is paused and resumed', async () => {
  const operator = await withWebhook()
  expect(await operator.json('webhook', 'pause', '1')).toMatchObject({ state: 'paused', pausedFor: 'by-request' })
  expect((await operator.run(['webhook', 'list'])).out).toContain('paused by an operator or its account')
  expect(await operator.json('webhook', 'resume', '1')).toMatchObject({ state: 'active', pausedFor: null })
})

test('a secret is rotated, with the time until which the previous one signs', async () => {
  const operator = await withWebhook()
  const rotated = await operator.json('webhook', 'rotate', '1')
  expect(rotated).toMatchObject({ previousSecretUntil: '2026-10-19T08:00:00.000Z' })
  const { out } = await operator.run(['webhook', 'rotate', '1', '--overlap-hours', '2'])
  expect(out).toMatch(/^The new signing secret of webhook 1, shown only now:\nwhsec_\S+\n/)
  expect(out).toMatch(/\nThe previous secret also signs until 2026\/10\/18 12:00:00 \(GMT\+2\)\.\n$/)
  expect(await operator.row('webhook', 'show', '1')).toMatchObject({ previousSecretUntil: '2026-10-19T08:00:00.000Z' })
  const last = await operator.run(['webhook', 'rotate', '1', '--overlap-hours', '0'])
  expect(last.out).toMatch(/\nNo previous secret signs any more\.\n$/)
})

test('if the key file of this process can be read by others, the only advice is to change that', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-webhooks-'))
  try {
    const here = secretBox({ keys: [], folder })
    const operator = anOperator({ ports: (inMemory) => ({ ...inMemory, secretBox: here }) })
    const { id } = await anAccount(operator.ports)
    const sealed = secretBox({ keys: [], folder }).seal('whsec_x')
    const settings = { account: id, url, events: [], listSize: 1, withText: false, secret: sealed }
    await operator.ports.webhooks.add(settings, operator.ports.clock.now())
    const document = { sealed, digest: 'x', carriers: [], routes: [], storedBy: 'x' }
    await operator.ports.carrierVersions.store(document, 0, { onPurpose: true })
    chmodSync(join(folder, 'secrets.key'), 0o644)
    const carriers = join(folder, 'carriers.json')
    writeFileSync(carriers, JSON.stringify({ carriers: [{ name: 'a', url: 'simulator:' }] }))
    const commands = [
      ['webhook', 'add', '--account', '1', '--url', url],
      ['webhook', 'rotate', '1'],
      ['number', 'erase', '27825550101'],
      ['carrier', 'apply', carriers],
    ]
    for (const args of commands) {
      const { code, out, err } = await operator.run(args)
      expect([code, out, err]).toEqual([3, '', expect.stringMatching(/\(mode 644\): chmod 600 \S+secrets\.key\n$/)])
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('with another key than that of stored secrets, nothing is added, rotated, erased or created, unless requested', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-webhooks-'))
  const keys = [randomBytes(32).toString('base64')]
  const lost = secretBox({ keys: [randomBytes(32).toString('base64')], folder })
  try {
    for (const keysHere of [keys, []]) {
      const here = secretBox({ keys: keysHere, folder })
      const operator = anOperator({ ports: (inMemory) => ({ ...inMemory, secretBox: here }) })
      const { id } = await anAccount(operator.ports)
      const settings = { account: id, url, events: [], listSize: 1, withText: false, secret: lost.seal('whsec_x') }
      await operator.ports.webhooks.add(settings, operator.ports.clock.now())
      const commands = [
        ['webhook', 'add', '--account', '1', '--url', url],
        ['webhook', 'rotate', '1'],
        ['number', 'erase', '27825550101'],
      ] as const
      for (const args of [...commands, ['secrets', 'reseal']]) {
        const { code, out, err } = await operator.run(args)
        expect([code, out, readdirSync(folder)]).toEqual([args[0] === 'secrets' ? 3 : 1, '', []])
        expect(err).toMatch(/^A stored secret was encrypted with the key \w+, but this process has /)
        expect(err).toContain('. Set SECRETS_KEY to the same keys in every process')
        if (args[0] !== 'secrets')
          expect(err).toMatch(/\nNothing was stored, and no key was created\. If .*--despite-key/)
      }
      expect(await operator.rows('webhook', 'list')).toHaveLength(1)
      expect(await operator.json('number', 'erase', '27825550101', '--despite-key')).toMatchObject({ changed: true })
      expect(await operator.json('webhook', 'rotate', '1', '--overlap-hours', '0', '--despite-key')).toMatchObject({
        id: 1,
      })
      expect(await operator.json('webhook', 'add', '--account', '1', '--url', url)).toMatchObject({ id: 2 })
      expect(await operator.json('secrets', 'reseal')).toEqual({ webhooks: 0, carrierVersions: 0, secondFactors: 0 })
      expect(readdirSync(folder)).toEqual(keysHere.length === 0 ? ['secrets.key'] : [])
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('attempts show the answer, the time of the next attempt, and the reason for that time', async () => {
  const operator = await withWebhook()
  expect(await operator.json('webhook', 'test', '1')).toEqual({ id: 1, event: 'test-1' })
  const answer = {
    outcome: 'answered',
    status: 503,
    retryAfterSeconds: 60,
    beginning: 'busy\u001b[31m',
    milliseconds: 31,
  } as const
  await push(operator, answer, 'retry')
  await operator.json('webhook', 'test', '1')
  await push(operator, { outcome: 'failed', failure: 'timeout', milliseconds: 15_000 }, 'dead')
  const { rows } = await operator.json<{ rows: { eventIds: string[] }[] }>('webhook', 'attempts', '1')
  const [first, second] = ['test-1', 'test-2'].map((event) => rows.find(({ eventIds }) => eventIds.includes(event)))
  expect(first).toEqual({
    list: 'list-1',
    eventIds: ['test-1'],
    try: 1,
    time: '2026-10-18T08:00:00.000Z',
    milliseconds: 31,
    httpStatus: 503,
    failure: null,
    answerText: 'busy\u001b[31m',
    result: 'failed',
    nextTry: '2026-10-18T08:01:00.000Z',
    nextReason: 'retry-after',
  })
  expect(second).toMatchObject({
    httpStatus: null,
    failure: 'timeout',
    result: 'dead',
    nextTry: null,
    nextReason: 'tries-exhausted',
  })
  const { out } = await operator.run(['webhook', 'attempts', '1'])
  expect(out).toContain('requested by the answer (Retry-After)')
  expect(out).toContain('no tries are left; the list can be replayed')
  expect(out).not.toContain('\u001b')
  const page = await operator.run(['webhook', 'attempts', '1', '--limit', '1'])
  expect(page.err).toBe('There are 2 attempts. For more: --offset 1\n')
  expect(await operator.json('webhook', 'attempts', '1', '--offset', '2')).toEqual({ rows: [], total: 2 })
})

test('a replay is started, shown, followed and stopped; another one is refused while it runs', async () => {
  const operator = await withWebhook()
  const replay = (...args: readonly string[]) => operator.json('webhook', 'replay', '1', ...args)
  const begun = await replay('--event', 'message-1-4')
  expect(begun).toMatchObject({ id: 1, webhook: 1, state: 'running', event: 'message-1-4', events: 0, ended: null })
  expect(await replay('--show')).toEqual(begun)
  const second = await operator.run(['webhook', 'replay', '1', '--dead'])
  expect([second.code, second.err]).toEqual([
    1,
    'Replay 1 of webhook 1 is running, and an account can have only one replay at a time. --stop ends it.\n',
  ])
  expect(await replay('--stop')).toMatchObject({ id: 1, state: 'stopped' })
  const { out } = await operator.run(['webhook', 'replay', '1', '--dead'])
  expect(out).toBe('Replay 2 of webhook 1 is running: 0 events, of which 0 wait to be pushed.\n')
  const followed = replay('--show', '--follow')
  await operator.ports.webhooks.advanceReplay()
  expect(await followed).toMatchObject({ id: 2, state: 'done', dead: true })
  expect(await replay('--from', '2026-10-17', '--to', '2026-10-18')).toMatchObject({
    id: 3,
    fromTime: '2026-10-16T22:00:00.000Z',
    toTime: '2026-10-18T22:00:00.000Z',
  })
})

test('a replay of an unknown event is refused: at once for its form, otherwise when it has ended', async () => {
  const operator = await withWebhook()
  for (const event of ['nothing', '', 'message-1', 'inbound-x', 'test-1'])
    expect(await operator.run(['webhook', 'replay', '1', '--event', event])).toMatchObject({
      ...{ code: 2, out: '' },
      err: expect.stringContaining("Expected the 'id' that the event has in its request") as string,
    })
  await operator.json('webhook', 'replay', '1', '--event', 'message-404-4')
  await operator.ports.webhooks.advanceReplay()
  const followed = await operator.run(['webhook', 'replay', '1', '--show', '--follow'])
  expect([followed.code, followed.err]).toEqual([
    1,
    'No list of webhook 1 in the last 30 days has the event message-404-4.\n',
  ])
})

test.each<[string, readonly string[], string, 1 | 2]>([
  ['an account that is not there', ['add', '--account', '7', '--url', url], 'There is no account 7.', 1],
  ['plain http', ['add', '--account', '1', '--url', 'http://x.example'], 'The URL must be a URL with https.', 1],
  ['an unknown event', ['add', '--account', '1', '--url', url, '--events', 'reply'], 'Expected names of events', 2],
  [
    'a list of 101',
    ['add', '--account', '1', '--url', url, '--list-size', '101'],
    'Expected a whole number from 1 to 100',
    2,
  ],
  ['no URL', ['add', '--account', '1'], "'--url <url>' not specified", 2],
  ['the list of no account', ['list', '--account', '7'], 'There is no account 7.', 1],
  ['show', ['show', '7'], 'There is no webhook 7.', 1],
  ['pause', ['pause', '7'], 'There is no webhook 7.', 1],
  ['resume', ['resume', '7'], 'There is no webhook 7.', 1],
  ['rotate', ['rotate', '7'], 'There is no webhook 7.', 1],
  ['rotate within a year', ['rotate', '1', '--overlap-hours', '8760'], 'Expected a whole number from 0 to 168', 2],
  ['remove', ['remove', '7'], 'There is no webhook 7.', 1],
  ['test', ['test', '7'], 'There is no webhook 7.', 1],
  ['attempts', ['attempts', '7'], 'There is no webhook 7.', 1],
  ['replay', ['replay', '7', '--dead'], 'There is no webhook 7.', 1],
  ['replay of nothing', ['replay', '1'], 'Use one of --event, --from with --to, --dead, --show and --stop.', 2],
  [
    'replay without an end',
    ['replay', '1', '--from', '7d'],
    'Use one of --event, --from with --to, --dead, --show and --stop.',
    2,
  ],
  ['replay that there was not', ['replay', '1', '--show'], 'There was no replay of webhook 1', 1],
  ['replay of two kinds', ['replay', '1', '--dead', '--event', 'inbound-7'], 'Use one of --event', 2],
  [
    'replay of no time',
    ['replay', '1', '--from', '202610181000', '--to', '202610181000'],
    'The end of the period is before',
    1,
  ],
])('%s is refused', async (_what, args, message, code) => {
  const operator = await withWebhook()
  const done = await operator.run(['webhook', ...args])
  expect([done.code, done.out]).toEqual([code, ''])
  expect(done.err).toContain(message)
  expect(await operator.ports.webhooks.list(undefined)).toHaveLength(1)
})

test('an account has at most 10 webhooks', async () => {
  const operator = await withWebhook()
  for (let count = 1; count < 10; count++) await operator.json('webhook', 'add', '--account', '1', '--url', url)
  const { code, err } = await operator.run(['webhook', 'add', '--account', '1', '--url', url])
  expect([code, err]).toEqual([1, 'Account 1 already has 10 webhooks, the maximum.\n'])
})

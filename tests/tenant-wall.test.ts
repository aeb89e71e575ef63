import { Agent, request, type OutgoingHttpHeaders } from 'node:http'
import { chanceOf, testSeed, until } from '@gateway/core/testing'
import { openAccount, type NewAccount } from './support/accounts.ts'
import { asp, restBalance, restSend, restStatus, rest, type Client } from './support/clients.ts'
import { startAllInOne, type RunningGateway } from './support/gateways.ts'
import { mannWhitney } from './support/mann-whitney.ts'
import { numbersEnding } from './support/numbers.ts'
import { operateJson } from './support/operate.ts'

const seed = testSeed()
const chance = chanceOf(seed)
const password = 'a right password'
const code = '40404'

/** Tenant. `own` makes the requests, and `other` owns the ids, numbers, accounts and codes that the requests name. */
interface Tenant extends NewAccount {
  readonly login: string
  readonly sub: number
}
let gateway: RunningGateway
let url: string
let other: Tenant
let own: Tenant
/** Ids of messages of the other tenant, in every state. All of them have four digits. */
let foreign: readonly number[]
/** Numbers to which the other tenant sent, including some that replied or opted out, and its short code. */
let foreignNumbers: readonly string[]
let foreignScheduled: number
let foreignWebhooks: readonly number[]

const clientOf = ({ key }: NewAccount): Client => ({ url, key })

async function openTenant(login: string): Promise<Tenant> {
  const { environment } = gateway
  const main = await openAccount(environment, login, 1_000_000, '--password', password)
  const sub = await openAccount(environment, `${login}-sub`, 1000, '--parent', String(main.id))
  return { ...main, login, sub: sub.id }
}

beforeAll(async () => {
  gateway = await startAllInOne()
  url = gateway.restUrl
  own = await openTenant('own')
  other = await openTenant('other')
  const client = clientOf(other)
  const answering = [...numbersEnding(3, '88'), ...numbersEnding(3, '89', 10)]
  // Sends enough messages that the following ids have four digits. Ids of different lengths would change the length of
  // an answer.
  const first = await restSend(client, numbersEnding(1000))
  const others = ['90', '92', '93', '94', '95'].flatMap((ending) => numbersEnding(20, ending, 20))
  const sent = await restSend(client, [...others, ...answering, ...numbersEnding(400, '00', 2000)])
  const later = numbersEnding(600, '01', 3000).map((mobileNumber) => ({ mobileNumber }))
  const body = { message: 'Later', recipients: later, scheduledTime: '209901010000' }
  const scheduled = await rest<{ recipients: { apiMessageId: number }[] }>(client, '/sms/outgoing/send', body)
  const waiting = scheduled.recipients.map(({ apiMessageId }) => apiMessageId)
  await rest(client, '/sms/scheduled/delete', waiting.slice(0, 100))
  foreignScheduled = waiting.length - 100
  foreign = [...first, ...sent, ...waiting].map(Number).filter((id) => id >= 1000 && id < 5000)
  expect(foreign.length).toBeGreaterThan(1000)
  foreignNumbers = [...answering, ...numbersEnding(50), ...numbersEnding(40, '01', 3000), code, '27821239999']
  await operateJson(['shortcode', 'assign', code, String(other.id)], gateway.environment)
  await operateJson(['optout', 'add', String(other.id), '27821239999'], gateway.environment)
  const webhook = { url: 'https://receiver.invalid/events', events: ['optout.removed'] }
  foreignWebhooks = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const added = await rest<{ webhook: { id: number } }>(client, '/webhooks', webhook)
      return added.webhook.id
    }),
  )
  await until(async () => {
    const optOuts = await rest<{ incomingOptoutMessages: unknown[] }>(client, '/sms/incoming/optout')
    const statuses = await restStatus(client, sent.map(Number))
    return optOuts.incomingOptoutMessages.length === 4 && statuses.every(({ statusCode }) => statusCode !== -1)
  }, 60_000)
}, 120_000)
afterAll(async () => {
  agent.destroy()
  await gateway.stop()
})

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

interface Answer {
  readonly status: number | undefined
  readonly headers: OutgoingHttpHeaders
  readonly text: string
}

const send = (method: string, path: string, headers: OutgoingHttpHeaders, body = ''): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const client = request(url + path, { method, headers, agent }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece) => (text += String(piece)))
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }))
    })
    client.on('error', reject).end(body)
  })

type Credential = 'key' | 'pair'
type Ask = (values: readonly (string | number)[]) => Promise<Answer>

const onRest =
  (path: string, body: (values: readonly (string | number)[]) => unknown): ((by: Credential) => Ask) =>
  () =>
  (values) =>
    send(
      'POST',
      `/api/rest/v1${path}`,
      { authorization: own.key, 'content-type': 'application/json' },
      JSON.stringify(body(values)),
    )
const onAsp =
  (path: string, query: (values: readonly (string | number)[]) => string) =>
  (by: Credential): Ask =>
  (values) => {
    const credential = by === 'key' ? `apikey=${own.key}` : `user=${own.login}&password=${encodeURIComponent(password)}`
    return send('GET', `/api/${path}?${credential}&${query(values)}`, {})
  }
const onXml =
  (path: string, root: string, content: (values: readonly (string | number)[]) => string) =>
  (by: Credential): Ask =>
  (values) => {
    const credential =
      by === 'key' ? `<ApiKey>${own.key}</ApiKey>` : `<User>${own.login}</User><Password>${password}</Password>`
    return send('POST', `/api/${path}`, {}, `<${root}>${credential}${content(values)}</${root}>`)
  }

const messageIds = (ids: readonly (string | number)[]): string =>
  `<MessageIDs>${ids.map((id) => `<MessageID><ID>${id}</ID></MessageID>`).join('')}</MessageIDs>`
const recipients = (numbers: readonly (string | number)[]) =>
  numbers.map((number) => ({ mobileNumber: String(number) }))

type Row = readonly [title: string, by: Credential, batch: number, ask: (by: Credential) => Ask]
const twice = (title: string, batch: number, ask: (by: Credential) => Ask): readonly Row[] => [
  [title, 'key', batch, ask],
  [title, 'pair', batch, ask],
]
const byIds: readonly Row[] = [
  ['REST status', 'key', 1000, onRest('/sms/outgoing/status', (ids) => ids)],
  ['REST delete', 'key', 1000, onRest('/sms/scheduled/delete', (ids) => ids)],
  ...twice(
    'requestbatch.asp',
    100,
    onAsp('requestbatch.asp', (ids) => `messageid=${ids.join(';')};`),
  ),
  ...twice(
    'deletescheduled.asp',
    100,
    onAsp('deletescheduled.asp', (ids) => `messageid=${ids.join(';')};`),
  ),
  ...twice('xmlgetstatus.asp', 1000, onXml('xmlgetstatus.asp', 'Svc_StatusRequest', messageIds)),
  ...twice('xmldeletescheduled.asp', 1000, onXml('xmldeletescheduled.asp', 'Svc_DeleteScheduled', messageIds)),
]
/** A time so far ahead that nothing is sent. Otherwise some of the recipients would reply to the requesting tenant. */
const later = '209901010000'
const text = (numbers: readonly (string | number)[]) => ({
  ...{ message: 'Hello', recipients: recipients(numbers), scheduledTime: later },
})
const byNumbers: readonly Row[] = [
  ['REST send', 'key', 100, onRest('/sms/outgoing/send', text)],
  ['REST sendmulti', 'key', 100, onRest('/sms/outgoing/sendmulti', (numbers) => ({ messages: [text(numbers)] }))],
  ...twice(
    'batchmessage.asp',
    100,
    onAsp('batchmessage.asp', (numbers) => `message=Hello&numbers=${numbers.join(';')}&scheduled=${later}`),
  ),
  ...twice(
    'xmlsendsmsmulti.asp',
    100,
    onXml(
      'xmlsendsmsmulti.asp',
      'Svc_Multi_Message',
      (numbers) =>
        `<Scheduled>${later}</Scheduled><Messages><Message><MessageText>Hello</MessageText><Numbers>${numbers.map((number) => `<Number>${number}</Number>`).join('')}</Numbers></Message></Messages>`,
    ),
  ),
]
const transferBody = ([from = 0, to = 0]: readonly (string | number)[]) => ({
  sendingAccountNumber: from,
  receivingAccountNumber: to,
  transferQuantity: 1,
})
const byAccounts: readonly Row[] = [
  ['REST transfer', 'key', 1, onRest('/credits/transfer', transferBody)],
  ...twice(
    'creditstransfer.asp',
    1,
    onAsp('creditstransfer.asp', ([from = 0, to = 0]) => `fromAccountId=${from}&toAccountId=${to}&transferQuantity=1`),
  ),
]
const onWebhook =
  (method: string, rest: string, body?: object): ((by: Credential) => Ask) =>
  () =>
  ([id = 0]) => {
    const headers = { authorization: own.key, ...(body && { 'content-type': 'application/json' }) }
    return send(method, `/api/rest/v1/webhooks/${id}${rest}`, headers, body && JSON.stringify(body))
  }
const byWebhooks: readonly Row[] = [
  ['REST webhook', 'key', 1, onWebhook('GET', '')],
  ['REST change of a webhook', 'key', 1, onWebhook('PATCH', '', { state: 'paused' })],
  ['REST wrong change of a webhook', 'key', 1, onWebhook('PATCH', '', { listSize: 101 })],
  ['REST removal of a webhook', 'key', 1, onWebhook('DELETE', '')],
  ['REST rotation', 'key', 1, onWebhook('POST', '/rotate')],
  ['REST test of a webhook', 'key', 1, onWebhook('POST', '/test')],
  ['REST replay', 'key', 1, onWebhook('POST', '/replay', { dead: true })],
  ['REST look at a replay', 'key', 1, onWebhook('GET', '/replay')],
  ['REST stop of a replay', 'key', 1, onWebhook('DELETE', '/replay')],
  ['REST attempts', 'key', 1, onWebhook('GET', '/attempts')],
]
const unknownWebhook = () => 50 + chance.below(50)

/** Returns an answer in which the values of the request, the present time, the request id and new ids are replaced. */
function comparable({ status, headers, text: body }: Answer, values: readonly (string | number)[]) {
  const echoed = new Set(values.map(String))
  const same = body
    .replace(/"timeStamp":"\d+"|"statusTime":"\d+"|<StatusDateTime>[^<]*/g, 'time')
    .replace(/"apiMessageId":\d+|<ID>\d+|=\d+&/g, 'id')
    .replace(/"newCreditBalance":[\d.]+/g, 'balance')
    .replace(/\d+/g, (digits) => (echoed.has(digits) ? 'echoed' : digits))
  const { date: _date, 'x-request-id': _id, 'content-length': length, ...others } = headers
  return { status, headers: others, text: same, length: same.includes('balance') ? undefined : length }
}

/** Returns unknown ids of four digits. */
const unknownIds = (count: number) => Array.from({ length: count }, () => 6000 + chance.below(4000))

// 1000 pairs of each row: 10,000 in all.
test.each(byIds)('%s by %s answers ids of another tenant as unknown ones', async (_title, by, batch, ask) => {
  for (let pairs = 0; pairs < 1000; pairs += batch) {
    const ids = Array.from({ length: batch }, () => chance.one(foreign))
    const unknown = unknownIds(batch)
    const orders = chance.shuffled([ids, unknown])
    const answers = new Map<unknown, Answer>()
    for (const each of orders) answers.set(each, await ask(by)(each))
    const [toForeign, toUnknown] = [ids, unknown].map((each) => answers.get(each))
    if (toForeign === undefined || toUnknown === undefined) throw new Error('no answer')
    expect(comparable(toForeign, ids)).toEqual(comparable(toUnknown, unknown))
    expect(toForeign.status).toBe(200)
    expect(toForeign.text.match(/NOTFOUND/g)?.length).toBeGreaterThanOrEqual(batch)
    // A request that mixes ids of the other tenant with unknown ids must get the same answer.
    const mixed = chance.shuffled([...ids.slice(0, batch / 2), ...unknown.slice(0, batch / 2)])
    expect(comparable(await ask(by)(mixed), mixed)).toEqual(comparable(toUnknown, unknown))
  }
})

test.each(byNumbers)(
  '%s by %s treats numbers and codes of another tenant as ones that nobody uses',
  async (_title, by, batch, ask) => {
    const numbers = chance.shuffled(foreignNumbers).slice(0, batch)
    const fresh = numbers.map((number) => (number === code ? '50505' : `2783${chance.below(100_000)}`.padEnd(11, '7')))
    const toForeign = comparable(await ask(by)(numbers), numbers)
    expect(toForeign).toEqual(comparable(await ask(by)(fresh), fresh))
    expect(toForeign.status).toBe(200)
    expect(toForeign.text).not.toMatch(/OPTEDOUT|WASPADNC/)
  },
)

test.each(byAccounts)(
  '%s by %s answers accounts of another tenant as unknown ones',
  async (_title, by, _batch, ask) => {
    for (let i = 0; i < 5; i++) {
      const unknown = 10 + chance.below(90)
      for (const account of [other.id, other.sub]) {
        const shapes = [(id: number) => [id, own.id], (id: number) => [own.id, id], (id: number) => [id, id]] as const
        for (const shape of shapes) {
          const answers = [await ask(by)(shape(account)), await ask(by)(shape(unknown))]
          const [toForeign, toUnknown] = answers.map((answer) => comparable(answer, []))
          expect(toForeign).toEqual(toUnknown)
          expect(toForeign?.text).toMatch(/invalid(From|To)Account/)
        }
      }
    }
  },
)

test.each(byWebhooks)(
  '%s by %s answers webhooks of another tenant as unknown ones',
  async (_title, by, _batch, ask) => {
    for (const id of foreignWebhooks) {
      const answers = [await ask(by)([id]), await ask(by)([unknownWebhook()])]
      const [toForeign, toUnknown] = answers.map((answer) => comparable(answer, []))
      expect(toForeign).toEqual(toUnknown)
      expect(toForeign?.status).not.toBe(200)
    }
    const { webhooks } = await rest<{ webhooks: readonly { state: string }[] }>(clientOf(other), '/webhooks')
    expect(webhooks.map(({ state }) => state)).toEqual(foreignWebhooks.map(() => 'active'))
  },
)

test.each(['key', 'pair'] as const)(
  'lists and return-once calls by %s contain nothing of another tenant',
  async (by) => {
    const query = by === 'key' ? `apikey=${own.key}` : `user=${own.login}&password=${encodeURIComponent(password)}`
    for (const path of ['httpgetreplies.asp', 'httpgetscmessages.asp', 'listoptouts.asp'])
      expect((await send('GET', `/api/${path}?${query}`, {})).text).toBe('')
    for (const root of ['Replies', 'SCmessages']) {
      const answer = await onXml(`xmlget${root.toLowerCase()}.asp`, `Svc_${root}`, () => '')(by)([])
      expect(answer.text).toMatch(new RegExp(`<XMLGateway_${root}/>$`))
    }
  },
)

test('REST lists contain nothing of another tenant', async () => {
  const client = clientOf(own)
  const found = await Promise.all(
    ['/sms/incoming', '/shortcode/incoming', '/sms/scheduled', '/sms/incoming/optout', '/subaccounts'].map((path) =>
      rest<Record<string, unknown>>(client, path),
    ),
  )
  expect(await rest<object>(client, '/webhooks')).toMatchObject({ webhooks: [] })
  expect(found).toMatchObject([
    { incomingMessages: [], resultsTotalAvailable: 0 },
    { shortcodeMessages: [], resultsTotalAvailable: 0 },
    {},
    { incomingOptoutMessages: [] },
    { subAccounts: [{ accountNumber: own.sub }] },
  ])
  const { scheduledMessages } = found[2] as { scheduledMessages: readonly { apiMessageId: number }[] }
  expect(scheduledMessages.filter(({ apiMessageId }) => foreign.includes(apiMessageId))).toEqual([])
})

test('a wrong password for a user of another tenant is answered as one for an unknown user', async () => {
  for (const ask of [
    (user: string) => send('GET', `/api/auth.asp?user=${user}&password=x`, {}),
    (user: string) =>
      send(
        'POST',
        '/api/xmlgetreplies.asp',
        {},
        `<Svc_Replies><User>${user}</User><Password>x</Password></Svc_Replies>`,
      ),
  ]) {
    expect(comparable(await ask(other.login), [])).toEqual(comparable(await ask('nobody'), []))
  }
})

const alpha = 0.001

/**
 * Compares the durations of two requests, sent in turn 40 times each. Reports a difference if the Mann–Whitney test
 * finds one at a significance level of 0.1 % and the medians differ by more than `bound`.
 */
async function differsInTime(ask: Ask, pair: () => Pair): Promise<string | undefined> {
  const times: [number[], number[]] = [[], []]
  for (let i = 0; i < 40; i++) {
    const values = pair()
    for (const which of chance.shuffled([0, 1] as const)) {
      const begun = performance.now()
      await ask(values[which])
      times[which].push(performance.now() - begun)
    }
  }
  const { p, shift } = mannWhitney(...times)
  const typical = times[1].toSorted((a, b) => a - b)[20] ?? 0
  const line = `p ${p.toFixed(4)}, shift ${shift.toFixed(2)} of ${typical.toFixed(2)} ms`
  return p < alpha && Math.abs(shift) > bound(typical) ? line : undefined
}

/** Returns the largest tolerated difference: a quarter of the median plus 0.2 ms. */
const bound = (milliseconds: number): number => 0.25 * milliseconds + 0.2

type Pair = readonly [ofAnother: number[], unknown: number[]]
const idPair = (batch: number): Pair => [Array.from({ length: batch }, () => chance.one(foreign)), unknownIds(batch)]
const accountPair = (): Pair => [
  [own.id, other.id],
  [own.id, 10 + chance.below(90)],
]
const webhookPair = (): Pair => [[chance.one(foreignWebhooks)], [unknownWebhook()]]
const timed = [
  ...byIds.map((row) => [...row, idPair] as const),
  ...byAccounts.map((row) => [...row, accountPair] as const),
  ...byWebhooks.map((row) => [...row, webhookPair] as const),
]

test.each(timed)('%s by %s takes as long for another tenant as for nobody', async (_title, by, batch, ask, pairOf) => {
  const pair = () => pairOf(batch)
  // A difference that other load causes disappears when the measurement is repeated. A real difference remains.
  let found: string | undefined
  for (let look = 0; look < 4; look++) {
    found = await differsInTime(ask(by), pair)
    if (found === undefined) return
  }
  throw new Error(`another tenant is told by time: ${found}`)
})

test('nothing of the other tenant was changed, spent or consumed', async () => {
  const client = clientOf(other)
  const { resultsTotalAvailable } = await rest<{ resultsTotalAvailable: number }>(client, '/sms/scheduled')
  expect(resultsTotalAvailable).toBe(foreignScheduled)
  expect((await asp(client, 'httpgetreplies.asp')).split('&').length - 1).toBe(6)
  const before = await restBalance(client)
  expect(before).toBeGreaterThan(990_000)
  expect(await operateJson(['credits', 'verify'], gateway.environment)).toMatchObject({ total: 0 })
})

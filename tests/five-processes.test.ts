import { runConformance, textReport } from '@gateway/conformance'
import { until } from '@gateway/core/testing'
import { asp, aspSend, restSend, restStatus, xml, xmlSend } from './support/clients.ts'
import { prepared, replyBy } from './support/conformance.ts'
import { startFiveProcesses, type RunningGateway } from './support/gateways.ts'
import { commandLineOf, operateJson } from './support/operate.ts'
import { killLeftovers } from './support/process.ts'
import { submissions } from './support/record.ts'

let gateway: RunningGateway
beforeAll(async () => {
  gateway = await startFiveProcesses({ CARRIERS: 'simulator:?delayMs=100' })
}, 120_000)
afterAll(async () => {
  try {
    expect(await gateway.stop()).toEqual([0, 0, 0, 0, 0])
  } finally {
    killLeftovers()
  }
}, 60_000)

test('rest, asp, xml and two dispatchers as five processes on one DATABASE_URL behave like one process', async () => {
  const { environment, folder, restUrl, aspUrl, xmlUrl } = gateway
  const open = ['account', 'open', '--login', 'acme', '--credits', '100', '--password', 'secret', '--keep-password']
  const { id } = await operateJson<{ id: number }>(open, environment)
  const { id: keyId, key } = await operateJson<{ id: number; key: string }>(['key', 'issue', String(id)], environment)
  const client = (url: string) => ({ url, key })

  const ids = [
    ...(await restSend(client(restUrl), ['27820000001', '27820000093'])),
    ...(await aspSend(client(aspUrl), ['27820000002'])),
    ...(await xmlSend(client(xmlUrl), ['27820000003'])),
  ]
  expect(ids.every((sent) => typeof sent === 'number')).toBe(true)
  const codes = async () => (await restStatus(client(restUrl), ids as number[])).map(({ statusCode }) => statusCode)
  await until(async () => String(await codes()) === '0,111,0,0', 30_000)
  expect(await asp(client(aspUrl), 'requestbatch.asp', { messageid: `${String(ids[0])};` })).toContain('=DELIVERED;')
  const document = `<MessageIDs><MessageID><ID>${String(ids[0])}</ID></MessageID></MessageIDs>`
  expect(await xml(client(xmlUrl), 'xmlgetstatus.asp', 'Svc_StatusRequest', document)).toContain('>DELIVERED<')
  // Four messages were charged, and the one that was refused on submission was refunded. The account had 100 credits.
  expect(await asp(client(aspUrl), 'credits.asp')).toBe('Credits=97')
  expect((await submissions(folder)).map((line) => line.messageId).sort()).toEqual([...ids].sort())

  await operateJson(['key', 'revoke', String(keyId)], environment)
  await until(async () => (await asp(client(aspUrl), 'auth.asp')) === 'Login=FAIL', 5_000)
}, 120_000)

/** Cases of the contract in which processes depend on each other through the database. */
const sharedCases = [
  'the outcome of a message has its word and code',
  'the query string returns a reply once',
  'STOP is free',
  'a send with the same',
  'deletescheduled: DELETED once',
]

test('cases of the contract in which processes depend on each other pass; deployed-conformance.test.ts runs all', async () => {
  const operate = commandLineOf(gateway.environment)
  const summary = await runConformance({
    addresses: { rest: new URL(gateway.restUrl), asp: new URL(gateway.aspUrl), xml: new URL(gateway.xmlUrl) },
    configuration: await prepared(operate, undefined),
    choice: { sections: [], titles: sharedCases },
    bringReply: replyBy(operate),
  })
  const failed = summary.results.filter(({ outcome }) => outcome.is !== 'passed')
  expect(failed.length === 0 ? '' : textReport(summary)).toBe('')
  expect(summary.results.length).toBeGreaterThan(sharedCases.length)
}, 120_000)

test('failed log-ins at one process count at another', async () => {
  const { environment, aspUrl, xmlUrl } = gateway
  const open = ['account', 'open', '--login', 'guessed', '--credits', '7', '--password', 'right', '--keep-password']
  await operateJson(open, environment)
  const byAsp = async (password: string) =>
    (await fetch(`${aspUrl}/api/credits.asp?user=guessed&password=${password}`)).status
  const byXml = async (password: string) => {
    const body = `<Svc_Replies><User>GUESSED</User><Password>${password}</Password></Svc_Replies>`
    const response = await fetch(`${xmlUrl}/api/xmlgetreplies.asp`, { method: 'POST', body })
    await response.text()
    return response.status
  }
  for (let i = 0; i < 10; i++) expect(await byAsp(`guess-${i}`)).toBe(200)
  expect(await byAsp('right')).toBe(429)
  expect(await byXml('another guess')).toBe(429)
  expect(await byXml('right')).toBe(429)
}, 60_000)

test('account top shows the busy accounts of all processes', async () => {
  const { environment, restUrl, aspUrl } = gateway
  const { id } = await operateJson<{ id: number }>(
    ['account', 'open', '--login', 'busy', '--credits', '100'],
    environment,
  )
  const { key } = await operateJson<{ key: string }>(['key', 'issue', String(id)], environment)
  await restSend({ url: restUrl, key }, ['27820000001', '27820000002'])
  await aspSend({ url: aspUrl, key }, ['27820000003'])
  interface Top {
    readonly rows: readonly { readonly login: string; readonly requestRate: number; readonly messageRate: number }[]
  }
  const busy = async () =>
    (await operateJson<Top>(['account', 'top'], environment)).rows.find(({ login }) => login === 'busy')
  // The rates are averages over ten seconds, in which the account sent two messages to one process and one to another.
  await until(async () => {
    const rates = await busy()
    return rates?.messageRate === 0.3 && rates.requestRate === 0.2
  }, 30_000)
  const metrics = await (await fetch(`${restUrl}/metrics`)).text()
  expect(metrics).toContain(`gateway_account_requests_per_second{account="${id}"}`)
}, 60_000)

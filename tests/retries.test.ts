import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { testChance, until } from '@gateway/core/testing'
import { openDatabase } from './faults/database.ts'
import { openAccount } from './support/accounts.ts'
import { heldAnswers } from './support/held-answers.ts'
import { operate } from './support/operate.ts'
import { copyCluster, dataFolder, killLeftovers, startApp, type Environment } from './support/process.ts'

afterEach(killLeftovers)

interface Family {
  readonly key: string
  readonly main: number
  readonly sub: number
}

/**
 * Operations of each interface that accept an idempotency key. `reference` is the key, and a blank one means no key.
 */
const operations = ({ key, main, sub }: Family) => {
  const rest = (path: string, body: object) => (url: string, reference: string) =>
    fetch(`${url}/api/rest/v1${path}`, {
      method: 'POST',
      headers: { Authorization: key, 'Content-Type': 'application/json', 'Idempotency-Key': reference },
      body: JSON.stringify(body),
    })
  const asp = (path: string, query: string) => (url: string, reference: string) =>
    fetch(`${url}/api/${path}?apikey=${key}&${query}&clientref=${reference}`)
  const number = '<Numbers><Number>27820000103</Number></Numbers>'
  const messages = `<Messages><Message><MessageText>three</MessageText>${number}</Message></Messages>`
  const quantity = { sendingAccountNumber: main, receivingAccountNumber: sub, transferQuantity: 10 }
  return {
    'REST send': rest('/sms/outgoing/send', { message: 'one', recipients: [{ mobileNumber: '27820000101' }] }),
    'REST sendmulti': rest('/sms/outgoing/sendmulti', {
      messages: [{ message: 'four', recipients: [{ mobileNumber: '27820000104' }], scheduledTime: '203001010000' }],
    }),
    'query-string send': asp('batchmessage.asp', 'message=two&numbers=27820000102;x'),
    'XML send': (url: string, reference: string) =>
      fetch(`${url}/api/xmlsendsmsmulti.asp`, {
        method: 'POST',
        body: `<Svc_Multi_Message><ApiKey>${key}</ApiKey><ClientRef>${reference}</ClientRef>${messages}</Svc_Multi_Message>`,
      }),
    'REST transfer': rest('/credits/transfer', quantity),
    'query-string transfer': asp('creditstransfer.asp', `fromAccountId=${main}&toAccountId=${sub}&transferQuantity=20`),
  }
}

/** Repeats a request while the answer says that nothing was done, as may happen on a busy machine (ruling 1.25). */
async function textOf(ask: () => Promise<Response>): Promise<string> {
  const response = await until(async () => {
    const answer = await ask()
    return answer.status === 503 && answer.headers.has('Retry-After') ? undefined : answer
  })
  const text = await response.text()
  expect([response.status, text]).toEqual([200, text])
  return text.replace(/"timeStamp":"[0-9]{17}"/, '')
}

test('kill -9 of the server and of PostgreSQL between the work and its answer: the retry has the answer, done once, on each interface', async () => {
  const data = await dataFolder()
  const folder = join(data.path, 'db')
  await mkdir(folder)
  await copyCluster(folder)
  const database = await openDatabase(folder, testChance())
  const network = await heldAnswers(database.connectionString)
  try {
    const direct: Environment = { DATABASE_URL: database.connectionString, DATA_DIR: data.path }
    const environment = { ...direct, CARRIERS: 'simulator:?delayMs=10' }
    const { id: main, key } = await openAccount(direct, 'main', 1000)
    const { id: sub } = await openAccount(direct, 'sub', 0, '--parent', String(main))
    const operationList = Object.entries(operations({ key, main, sub }))
    // Each process gets at most two operations that accept messages, because a third accepting statement would wait for
    // the answer to one of the two.
    const proxied = { ...direct, DATABASE_URL: network.connectionString }
    const servers = await Promise.all((['rest', 'asp', 'xml'] as const).map((app) => startApp(app, proxied)))
    const [rest = '', asp = '', xml = ''] = servers.map(({ url }) => url)
    const urlOf = (name: string) => (name.startsWith('REST') ? rest : name.startsWith('XML') ? xml : asp)

    // Also holds `end-backend`, so that a server cannot find out the outcome even if it waits for a long time.
    network.hold('accept-keyed', 'transfer_credits', 'end-backend')
    const lost = operationList.map(([name, ask]) =>
      ask(urlOf(name), name).then(
        // A server on a busy machine may answer 503 before the kill, which means that the outcome is unknown.
        ({ status }) => (status === 503 ? 'lost' : 'answered'),
        () => 'lost',
      ),
    )
    const count = async (table: string) =>
      Number((await database.ask<{ n: string }>(`select count(*) n from ${table}`))[0]?.n)
    await until(async () => (await count('client_request')) === operationList.length)
    const ended = Promise.all(servers.map((server) => server.stop('SIGKILL')))
    database.killAll()
    await ended
    expect(new Set(await Promise.all(lost))).toEqual(new Set(['lost']))

    await database.back()
    const second = await startApp('all-in-one', environment)
    const answers = await Promise.all(operationList.map(([name, ask]) => textOf(() => ask(second.url, name))))
    expect(answers).toEqual([
      expect.stringMatching(/"accepted":true.*"apiMessageId":\d+,"scheduledTime":null,"creditCost":1.0/),
      expect.stringMatching(/"accepted":true.*"apiMessageId":\d+,"scheduledTime":"203001010000","creditCost":1.0/),
      expect.stringMatching(/^27820000102=\d+&x=BADDEST&$/),
      expect.stringMatching(/<Number>27820000103<\/Number><ID>\d+<\/ID>/),
      expect.stringContaining('"transferSuccessful":true'),
      'Transfer=Success',
    ])
    const all = await Promise.all(
      Array.from({ length: 63 }, () =>
        Promise.all(operationList.map(([name, ask]) => textOf(() => ask(second.url, name)))),
      ),
    )
    for (const again of all) expect(again).toEqual(answers)
    expect(await count('send')).toBe(4)
    expect(await count('ledger where kind = 2')).toBe(4)
    const balances = await database.ask<{ balance: string }>('select balance from account order by id')
    expect(balances.map(({ balance }) => Number(balance))).toEqual([10_000 - 40 - 300, 300])
    expect((await operate(['credits', 'verify'], direct)).code).toBe(0)

    // A request without a key, or with a new key, is executed anew. A request with the key of another request is
    // refused.
    for (const [name, ask] of operationList)
      for (const other of [' ', `new ${name}`]) await textOf(() => ask(second.url, other))
    expect([await count('send'), await count('ledger where kind = 2')]).toEqual([12, 12])
    const [[, send]] = operationList as [(typeof operationList)[number]]
    expect((await send(second.url, 'XML send')).status).toBe(422)
    expect(await second.stop()).toBe(0)
  } finally {
    killLeftovers()
    await network.close()
    await database.stop()
    await database.remove()
    await data.remove()
  }
}, 120_000)

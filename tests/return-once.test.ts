import { connect } from 'node:net'
import { systemClock } from '../packages/adapters-node/src/index.ts'
import { postgresPorts, type PostgresPorts } from '@gateway/adapters-postgres'
import { createProcessing } from '@gateway/core'
import { aCarrierId, testChance, until } from '@gateway/core/testing'
import { removeCluster, startEmbeddedPostgres, type EmbeddedPostgres } from '@gateway/embedded-postgres'
import { openAccount } from './support/accounts.ts'
import { rest, restSend, restStatus } from './support/clients.ts'
import {
  copyCluster,
  dataFolder,
  killLeftovers,
  startApp,
  type DataFolder,
  type Environment,
  type Started,
} from './support/process.ts'

// Tests three processes that return replies from one database: two of the query-string interface and one of the XML
// interface.
const carrier = aCarrierId('network')
const number = '27821230001'

let data: DataFolder
let database: EmbeddedPostgres
let environment: Environment
let postgres: PostgresPorts
let apps: readonly Started[]

beforeAll(async () => {
  data = await dataFolder()
  await copyCluster(`${data.path}/db`)
  database = await startEmbeddedPostgres({ dataDir: `${data.path}/db` })
  const { connectionString } = database
  environment = { DATABASE_URL: connectionString, DATA_DIR: data.path, CARRIERS: 'simulator:?delayMs=0' }
  const names = ['asp', 'asp', 'xml', 'rest', 'dispatcher'] as const
  apps = await Promise.all(names.map((app) => startApp(app, environment)))
  postgres = postgresPorts({ connectionString })
}, 120_000)
afterAll(async () => {
  await postgres.close()
  await Promise.all(apps.map((app) => app.stop()))
  killLeftovers()
  await database.stop()
  await removeCluster(`${data.path}/db`)
  await data.remove()
}, 120_000)

const urlOf = (at: number): string => apps[at]?.url ?? ''

/** Opens an account that owns all following replies, and returns its key. */
async function holder(login: string): Promise<string> {
  const { key } = await openAccount(environment, login, 10)
  const client = { url: urlOf(3), key }
  const [message] = await restSend(client, [number])
  await until(async () => (await restStatus(client, [Number(message)]))[0]?.status === 'DELIVERED', 30_000)
  return key
}

async function bring(texts: readonly string[]): Promise<void> {
  const common = { from: number, to: undefined, sent: undefined, offer: undefined, part: undefined }
  const replies = texts.map((text) => ({ ...common, text, reference: text }))
  await createProcessing({ ...postgres.ports, clock: systemClock() }).acceptInboundMessages(carrier, replies)
}

interface Poll {
  readonly began: string
  readonly port: number
  /** Returns the texts in a response. */
  read(body: string): readonly string[]
}

const aspPoll = (at: number, key: string): Poll => ({
  began: `GET /api/httpgetreplies.asp?apikey=${key} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  port: Number(new URL(urlOf(at)).port),
  read: (body) => Array.from(body.matchAll(/Message=([^;&]*)/g), ([, text = '']) => text),
})

function xmlPoll(key: string): Poll {
  const body = `<Svc_Replies><ApiKey>${key}</ApiKey></Svc_Replies>`
  const head = `POST /api/xmlgetreplies.asp HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`
  return {
    began: head + body,
    port: Number(new URL(urlOf(2)).port),
    read: (answer) => Array.from(answer.matchAll(/<Message>([^<]*)<\/Message>/g), ([, text = '']) => text),
  }
}

/**
 * Returns the complete response. Returns undefined if the server cut the response off, or if the client did so after
 * `bytes` bytes (0: before the first byte).
 */
const ask = ({ began: requestText, port }: Poll, bytes = Infinity): Promise<string | undefined> =>
  new Promise((resolve) => {
    let got = Buffer.alloc(0)
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(requestText, () => {
        if (bytes === 0) socket.resetAndDestroy()
      })
    })
    socket.on('data', (chunk) => {
      got = Buffer.concat([got, chunk])
      if (got.length >= bytes) socket.resetAndDestroy()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(wholeBody(got.toString())))
  })

function wholeBody(answer: string): string | undefined {
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  const body = rest.join('\r\n\r\n')
  const length = /content-length: (\d+)/i.exec(head)?.[1]
  if (length === undefined || Buffer.byteLength(body) < Number(length)) return undefined
  if (!head.startsWith('HTTP/1.1 200')) throw new Error(`a poller was answered ${answer.slice(0, 200)}`)
  return body
}

test('of 64 pollers of three processes some hang up: each reply is in one complete answer only, or its client hung up', async () => {
  const key = await holder('many')
  const count = 10_000
  const texts = Array.from({ length: count }, (_, i) => `reply ${i}`)
  const polls = [aspPoll(0, key), aspPoll(1, key), xmlPoll(key)]
  const got: string[] = []
  const figures = { answers: 0, withReplies: 0, hungUp: 0 }
  const chance = testChance()
  let over = false

  async function poll(one: Poll): Promise<void> {
    while (!over) {
      const hangsUp = chance.happens(0.25)
      const body = await ask(one, hangsUp ? chance.below(2) * chance.below(20_000) : Infinity)
      if (body === undefined) figures.hungUp++
      else {
        const read = one.read(body)
        got.push(...read)
        figures.answers++
        if (read.length > 0) figures.withReplies++
      }
    }
  }
  const polling = Array.from({ length: 64 }, (_, i) => poll(polls[i % 3] ?? xmlPoll(key)))
  for (let at = 0; at < count; at += 100) await bring(texts.slice(at, at + 100))
  await until(() => Promise.resolve(figures.hungUp > 10))
  over = true
  await Promise.all(polling)

  // No client disconnects any more. Everything that was not completely delivered before is returned now.
  const empty = async () => {
    const body = (await ask(polls[0] ?? xmlPoll(key))) ?? ''
    got.push(...aspPoll(0, key).read(body))
    return body === ''
  }
  await until(async () => (await empty()) && (await empty()), 30_000)

  expect(new Set(got).size).toBe(got.length)
  const seen = new Set(got)
  const missed = texts.filter((text) => !seen.has(text))
  if (figures.hungUp === 0) expect(missed).toEqual([])
  const listed = new Set<string>()
  for (let offset = 0; offset < count; offset += 1000) {
    const page = await rest<{ resultsTotalAvailable: number; incomingMessages: { messageText: string }[] }>(
      { url: urlOf(3), key },
      `/sms/incoming?offset=${offset}&limit=1000`,
    )
    expect(page.resultsTotalAvailable).toBe(count)
    for (const { messageText } of page.incomingMessages) listed.add(messageText)
  }
  expect(listed.size).toBe(count)
  expect(figures.withReplies).toBeGreaterThan(10)
  expect(figures.hungUp).toBeGreaterThan(10)
  console.info(
    `return once: ${JSON.stringify({ ...figures, inWholeAnswers: got.length, handedOverUnread: missed.length })}`,
  )
}, 180_000)

test.each([
  ['query-string', () => aspPoll],
  ['XML', () => (_: number, key: string) => xmlPoll(key)],
])(
  '%s: a large answer that nobody reads to its end is offered again, whole and in its order',
  async (name, pollOf) => {
    const key = await holder(`large-${name}`)
    const long = 'x'.repeat(900)
    const texts = Array.from({ length: 10_000 }, (_, i) => `${name}${i} ${long}`)
    for (let at = 0; at < texts.length; at += 500) await bring(texts.slice(at, at + 500))
    const poll = pollOf()(0, key)
    // The answer is larger than all buffers between client and server, so the server cannot have sent it completely.
    for (const bytes of [1, 100_000]) await until(async () => (await ask(poll, bytes)) === undefined, 30_000)
    let body = ''
    await until(async () => (body = (await ask(poll)) ?? '') !== '' && poll.read(body).length > 0, 30_000)
    expect(poll.read(body)).toEqual(texts)
    expect(poll.read((await ask(poll)) ?? '')).toEqual([])
  },
  180_000,
)

test('replies that were handed over completely are not offered again, even if the client resets the connection unread', async () => {
  const key = await holder('unread')
  await bring(['unread'])
  const poll = aspPoll(0, key)
  await new Promise<void>((resolve) => {
    let got = ''
    const socket = connect(poll.port, '127.0.0.1', () => socket.write(poll.began))
    socket.on('data', (chunk) => {
      got += chunk.toString()
      if (got.endsWith('&')) socket.resetAndDestroy()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
  })
  // By the time the server has answered other requests, it also knows of the reset.
  for (const other of [aspPoll(0, key), aspPoll(1, key), xmlPoll(key), aspPoll(0, key)]) {
    expect(other.read((await ask(other)) ?? 'Message=cut off')).toEqual([])
  }
  const list = await rest<{ incomingMessages: { messageText: string }[] }>({ url: urlOf(3), key }, '/sms/incoming')
  expect(list.incomingMessages.map(({ messageText }) => messageText)).toEqual(['unread'])
}, 60_000)

import pg from 'pg'
import { chanceOf, testSeed, until } from '@gateway/core/testing'
import { removeCluster, startEmbeddedPostgres } from '@gateway/embedded-postgres'
import { operateJson, operate } from './support/operate.ts'
import { copyCluster, dataFolder, killLeftovers, startApp, type Environment, type Started } from './support/process.ts'

afterEach(killLeftovers)

/** Number of rows. The full-strength test has BULK_ROWS=100000 and BULK_KILLS=3. */
const rows = Number(process.env['BULK_ROWS'] ?? 6000)
const kills = Number(process.env['BULK_KILLS'] ?? 1)
const password = 'correct horse battery'
const credits = rows * 2

const numberOf = (row: number): string => String(27820000000 + row)

/** Returns a time so far ahead that dispatchers have no work during the test. */
const nextWeek = (): string => new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 16)

/** Signs in with a browser without scripts. */
async function signIn(url: string) {
  const sameOrigin = { 'sec-fetch-site': 'same-origin' }
  const entered = await fetch(`${url}/sign-in`, {
    ...{ method: 'POST', headers: sameOrigin, redirect: 'manual' },
    body: new URLSearchParams({ login: 'clerk', password }),
  })
  const headers = { ...sameOrigin, cookie: entered.headers.get('set-cookie')?.split(';')[0] ?? '' }
  const read = async (path: string) => (await fetch(url + path, { headers })).text()
  const token = /name="token" value="([^"]+)"/.exec(await read('/send'))?.[1] ?? ''
  return {
    read,
    post: async (path: string, fields: Readonly<Record<string, string | Blob>>): Promise<string> => {
      const form = new FormData()
      for (const [name, value] of Object.entries({ token, ...fields })) form.set(name, value)
      const answer = await fetch(url + path, { method: 'POST', headers, body: form, redirect: 'manual' })
      return answer.headers.get('location') ?? String(answer.status)
    },
  }
}

/** Reads the progress page: number of accepted rows, and whether the send has ended. */
async function progress(visitor: Awaited<ReturnType<typeof signIn>>, path: string) {
  const page = (await visitor.read(path)).replaceAll('\u202f', '')
  const figure = (name: string): number => Number(new RegExp(`<dt>${name}</dt><dd>([0-9]+)`).exec(page)?.[1])
  return { accepted: figure('Accepted'), refused: figure('Not accepted'), isEnded: !page.includes('<h1>Sending') }
}

test('kill -9 in the middle of a send to many: each row is accepted and charged once, or reported as not accepted', async () => {
  const seed = testSeed()
  const chance = chanceOf(seed)
  const data = await dataFolder()
  const cluster = `${data.path}/db`
  await copyCluster(cluster)
  const database = await startEmbeddedPostgres({ dataDir: cluster })
  const environment: Environment = {
    ...{ DATABASE_URL: database.connectionString, DATA_DIR: data.path },
    CARRIERS: 'simulator:?delayMs=10',
  }
  const client = new pg.Client({ connectionString: database.connectionString })
  await client.connect()
  try {
    const open = ['account', 'open', '--login', 'clerk', '--credits', String(credits), '--password', password]
    const { id } = await operateJson<{ id: number }>(open, environment)
    let gateway: Started = await startApp('all-in-one', environment)
    let visitor = await signIn(gateway.url)
    const list = Array.from({ length: rows }, (_, row) => `${numberOf(row)},Name ${row % 50},${row}`)
    const file = new Blob([['Mobile,Name,Sum', ...list].join('\r\n')])
    const draft = await visitor.post('/send', {
      text: 'Dear {name}, {sum} is due',
      time: nextWeek(),
      category: 'news',
      file,
    })
    expect(draft).toMatch(/^\/send\/[0-9]+$/)
    const path = await visitor.post(draft, { revision: '0' })
    expect(path).toBe(`${draft}/sent`)

    const isStopped = chance.below(2) === 0
    for (let kill = 1; kill <= kills; kill++) {
      const enough = Math.floor((rows * kill) / (kills + 1)) - chance.below(1000)
      await until(async () => (await progress(visitor, path)).accepted >= enough, 120_000)
      if (isStopped && kill === kills) await visitor.post(path, { step: 'stop' })
      await new Promise((resolve) => setTimeout(resolve, chance.below(60)))
      await gateway.stop('SIGKILL')
      gateway = await startApp('all-in-one', environment)
      visitor = await signIn(gateway.url)
    }
    await until(async () => (await progress(visitor, path)).isEnded, 300_000)
    const { accepted, refused } = await progress(visitor, path)
    // A fast machine may have accepted every row before the stop.
    expect([seed, accepted + refused, isStopped || accepted === rows]).toEqual([seed, rows, true])

    const { rows: numbers } = await client.query<{ number: string }>(
      'select unnest(msisdns)::text as number from send where account_id = $1',
      [id],
    )
    const messages = numbers.map(({ number }) => number)
    expect(messages).toHaveLength(accepted)
    const others = `select first_id from send where account_id = $1 and options ->> 'category' is distinct from 'news'`
    expect((await client.query(others, [id])).rows).toEqual([])
    const reported = (await visitor.read(`${draft}/refused`)).split('\r\n').slice(1, -1)
    const notAccepted = reported.map((line) => line.split(',')[1] ?? '')
    expect(new Set([...messages, ...notAccepted]).size).toBe(rows)
    expect(messages.length + notAccepted.length).toBe(rows)
    const { rows: balance } = await client.query<{ balance: number }>('select balance from account where id = $1', [id])
    expect(Number(balance[0]?.balance)).toBe((credits - accepted) * 10)
    expect((await operate(['credits', 'verify'], environment)).code).toBe(0)
    await gateway.stop()
  } finally {
    killLeftovers()
    await client.end()
    await database.stop()
    await removeCluster(cluster)
    await data.remove()
  }
}, 600_000)

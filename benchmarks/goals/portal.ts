import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Benchmark } from '../benchmark.ts'
import { openAccounts, type Account } from '../environment/accounts.ts'
import type { BenchmarkEnvironment } from '../environment/environment.ts'
import { fill } from '../environment/fill.ts'
import type { Database } from '../environment/postgres.ts'
import { inRounds } from '../environment/rounds.ts'
import { measured } from '../environment/usage.ts'
import type { Figure, Goal } from '../figures/figure.ts'
import { ratios } from '../figures/spread.ts'

const carrier = { CARRIERS: 'simulator:?delayMs=0' }
const openPages = 200
/** Number of open pages of one account. */
const pagesOfAccount = 20
const singlesPerSecond = 100
const history = 1_000_000
const conversations = 100_000

/** Inserts sessions as signing in would, and returns the cookies of the browsers. */
async function signIn(database: Database, accounts: readonly Account[], each: number): Promise<readonly string[]> {
  const sessions = accounts.flatMap(({ id }) =>
    Array.from({ length: each }, () => ({ id, token: randomBytes(32).toString('base64url') })),
  )
  await database.query(
    `insert into session (hash, account_id, opened_under, second_factor, agent, address)
    select hash, id, sha256(''), false, 'benchmark', '' from unnest($1::text[], $2::int[]) u(hash, id)`,
    [sessions.map(({ token }) => createHash('sha256').update(token).digest('hex')), sessions.map(({ id }) => id)],
  )
  return sessions.map(({ token }) => `portal=${token}`)
}

/** Adds one received message from each person. */
const addConversations = (database: Database, account: number): Promise<unknown> =>
  database.query(`
with arrived as (
  insert into inbound_message (account_id, carrier, from_address, text)
  select ${account}, 1, (27820000000 + g)::text, 'Thank you' from generate_series(1, ${conversations}) g
  returning account_id, from_address, id, at
)
insert into conversation (account_id, from_address, last_id, last_at, arrived)
select account_id, from_address, id, at, 1 from arrived`)

const atMost = (value: number): Goal => ({ row: 'scale', is: 'at most', value })

/** Cost of pages, and their effect on sends. */
export const portal: Benchmark = {
  name: 'portal',
  title: `pages of an account with a million messages; ${openPages} open pages beside single sends`,
  goals: [],
  runs: 'when named',
  run: async (environment) => {
    const database = await environment.createDatabase()
    await (await environment.start('rest', {}, database)).stop()
    const { accounts: large } = await fill(database, { history, accounts: 1, suppressions: 1000, scheduled: 1000 })
    const [big] = large
    if (big === undefined) throw new Error('no account')
    await addConversations(database, big.id)
    await database.query('vacuum analyze')
    const [sender, ...others] = await openAccounts(database, 1 + openPages / pagesOfAccount)
    const app = await environment.start('all-in-one', carrier, database)
    const [cookie = ''] = await signIn(database, [big], 1)
    const middle = await database.number('select first_id from send where n = 1 order by first_id limit 1')
    const figures: Figure[] = [
      ...(await pageFigures(environment, app.url, cookie, middle)),
      ...(await openPageFigures(environment, app, cookie)),
      ...(await besideFigures(environment, app.url, sender, await signIn(database, others, pagesOfAccount))),
    ]
    return {
      figures,
      notes: [
        `An account with ${history} messages and ${conversations} conversations, on the all-in-one.`,
        'Times of pages are those of the client, one request at a time. CPU of an hour is extrapolated.',
      ],
    }
  },
}

async function pageFigures(
  environment: BenchmarkEnvironment,
  url: string,
  cookie: string,
  middle: number,
): Promise<readonly Figure[]> {
  const worker = environment.worker()
  const requests = environment.quick ? 50 : 300
  const paths = [
    '/',
    '/messages',
    `/messages?after=${middle}`,
    '/messages?q=27820000001',
    '/sends',
    '/inbox',
    '/inbox?before=5000',
    '/inbox/27820000500',
    '/opt-outs',
  ]
  await worker.run('pages', { url, cookie, paths, requests: 5 })
  const first = await worker.run('firstPage', { url, cookie })
  const { pages } = await worker.run('pages', { url, cookie, paths, requests })
  environment.check('every page was answered 200', pages.find(({ failed }) => failed > 0)?.path)
  return [
    {
      name: 'first page with everything, gzip',
      unit: 'kB',
      rounds: [first.bytes / 1000],
      better: 'less',
      goal: atMost(60),
    },
    { name: 'first page with everything', unit: 'ms', rounds: [first.milliseconds], better: 'less' },
    ...pages.flatMap(({ path, latencies }): Figure[] => [
      { name: `${path.replace(String(middle), 'id')}: p50`, unit: 'ms', rounds: [latencies.p50], better: 'less' },
      {
        ...{ name: `${path.replace(String(middle), 'id')}: p99`, unit: 'ms', rounds: [latencies.p99], better: 'less' },
        goal: atMost(100),
      },
    ]),
  ]
}

/** Time before the measurement. V8 shrinks its heap in the first seconds after a load. */
const settledMilliseconds = 30_000

async function openPageFigures(
  environment: BenchmarkEnvironment,
  app: Awaited<ReturnType<BenchmarkEnvironment['start']>>,
  cookie: string,
): Promise<readonly Figure[]> {
  const seconds = environment.quick ? 60 : 240
  await delay(settledMilliseconds)
  const cost = async (cookies: readonly string[]) => {
    const worker = environment.worker()
    const { usage } = await measured(environment.server, [app], () =>
      worker.run('openPages', { url: app.url, cookies, path: '/', seconds }),
    )
    worker.end()
    return { node: usage.apps[0] ?? NaN, postgres: usage.postgres }
  }
  const none = await cost([])
  const one = await cost([cookie])
  const hour = (with_: number, without: number): number => ((with_ - without) / 1e6 / seconds) * 3600
  return [
    {
      name: 'an open overview for an hour: CPU of node',
      unit: 's',
      rounds: [hour(one.node, none.node)],
      better: 'less',
    },
    {
      ...{ name: 'an open overview for an hour: CPU of PostgreSQL', unit: 's', better: 'less' },
      rounds: [hour(one.postgres, none.postgres)],
    },
  ]
}

async function besideFigures(
  environment: BenchmarkEnvironment,
  url: string,
  sender: Account | undefined,
  cookies: readonly string[],
): Promise<readonly Figure[]> {
  const sending = environment.worker()
  const seconds = environment.quick ? 15 : 40
  const sends = async (warmUp: boolean) => {
    const load = {
      ...{ face: 'rest' as const, url, keys: [sender?.key ?? ''], connections: 16, recipients: 1 },
      ...{ perSecond: singlesPerSecond, seconds: warmUp ? 5 : seconds },
    }
    const sent = await environment.sends(sending, load, true)
    return sent.latencies.p99
  }
  const looking = environment.worker()
  const looked: { open: number; events: number; given: number }[] = []
  const { alone, beside } = await inRounds(3, {
    alone: sends,
    beside: async (warmUp) => {
      // All pages are opened at once and stay open.
      const opened = looking.run('openPages', { url, cookies, path: '/', seconds: (warmUp ? 5 : seconds) + 12 })
      await delay(10_000)
      const p99 = await sends(warmUp)
      looked.push(await opened)
      return p99
    },
  })
  environment.check(
    'every page stayed open',
    looked.some(({ given: refusals }) => refusals > 0) ? 'one was ended' : undefined,
  )
  return [
    { name: 'single sends alone: p99', unit: 'ms', rounds: alone, better: 'less' },
    { name: `single sends beside ${cookies.length} open pages: p99`, unit: 'ms', rounds: beside, better: 'less' },
    {
      ...{ name: `beside ${cookies.length} open pages: ratio of p99`, unit: '', rounds: ratios(beside, alone) },
      ...{ better: 'less', goal: atMost(1.5) },
    },
    { name: 'pages that are open at the end', unit: '', rounds: looked.slice(1).map(({ open }) => open) },
    { name: 'pages sent to them', unit: '', rounds: looked.slice(1).map(({ events }) => events) },
  ]
}

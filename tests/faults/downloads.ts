import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from './database.ts'
import type { Figures } from './figures.ts'
import type { Gateway } from './operator.ts'
import type { Member } from './processes.ts'
import { within } from './within.ts'

const password = 'correct horse battery'

/**
 * Number of concurrent readers of files. It exceeds the number of database connections of a process
 * (`CONNECTIONS_MAX`).
 */
const readersCount = 6

/**
 * Number of movements of the account whose files are downloaded. With this many, the statement does not fit into the
 * buffers of the kernel.
 */
const movementsCount = 20_000

/** Maximum milliseconds for which pages may fail while slow readers download files (P-13). */
const limitMilliseconds = 6000
const pagePatienceMilliseconds = 2000
const betweenPagesMilliseconds = 500
/**
 * The times of pages and of the pauses of readers are counted in polls of this many milliseconds, however late a poll
 * comes, because a busy machine slows down the driver and the portal alike.
 */
const lookMilliseconds = 250

/** Milliseconds that the process may take to recover from a disturbance. */
const settleMilliseconds = 2000

/** Milliseconds for which a reader pauses in the middle of a file. */
const waitMilliseconds = 15_000

export interface Downloading {
  readonly figures: Figures
  readonly portal: Member
  readonly database: Database
  /** End of the load, by performance.now(). */
  readonly end: number
}

/** Opens an account with a long statement, whose holder can sign in at the portal. */
export async function openReader(gateway: Gateway, database: Database): Promise<void> {
  const { code, out } = await gateway('account', 'open', '--login', 'reader', '--password', password, '--json')
  if (code !== 0) throw new Error(`no account was opened for downloads: ${out}`)
  const { id } = JSON.parse(out) as { readonly id: number }
  await database.ask(
    `with entries as (
       insert into ledger (account_id, kind, amount, why)
       select ${id}, 1 /* LEDGER.topUp */, 1, repeat('a reason that fills its row ', 15)
       from generate_series(1, ${movementsCount})
       returning amount
     )
     update account set balance = balance + (select sum(amount) from entries) where id = ${id}`,
  )
}

/** Signs in and returns the cookie of the session, or undefined if that failed or the run is over. */
async function signIn({ portal, end }: Downloading): Promise<string | undefined> {
  while (performance.now() < end) {
    const answer = await fetch(`${portal.url() ?? 'http://127.0.0.1:1'}/sign-in`, {
      ...{ method: 'POST', headers: { 'sec-fetch-site': 'same-origin' }, redirect: 'manual' },
      body: new URLSearchParams({ login: 'reader', password }),
      signal: AbortSignal.timeout(pagePatienceMilliseconds * 5),
    }).catch(() => undefined)
    const cookie = answer?.headers.get('set-cookie')?.split(';')[0]
    await answer?.arrayBuffer().catch(() => undefined)
    if (cookie !== undefined) return cookie
    await delay(betweenPagesMilliseconds)
  }
  return undefined
}

/**
 * Downloads statements and messages until the end. The readers pause in the middle of a file. Asserts P-13: the process
 * that writes the files still answers pages.
 */
export async function download(downloading: Downloading): Promise<void> {
  const cookie = await signIn(downloading)
  if (cookie === undefined) return
  await Promise.all([
    judgePages(downloading, cookie),
    ...Array.from({ length: readersCount }, (_, at) => read(downloading, cookie, at)),
  ])
}

async function read({ figures, portal, end }: Downloading, cookie: string, at: number): Promise<void> {
  while (performance.now() < end) {
    const month = new Date().toISOString().slice(0, 7)
    const path = at === 0 ? '/messages/download' : `/statement/${month}/download`
    const url = portal.url()
    if (url !== undefined) figures.count(`portal downloads: ${await readSlowly(new URL(path, url), cookie, end)}`)
    await delay(betweenPagesMilliseconds)
  }
}

/**
 * Reads the beginning of a file, pauses, and reads the rest. Returns the HTTP status, and whether the file is complete.
 */
async function readSlowly(url: URL, cookie: string, end: number): Promise<string> {
  const socket = connect(Number(url.port), url.hostname).on('error', () => undefined)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.write(`GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`)
  const pieces: Buffer[] = []
  socket.on('data', (piece: Buffer) => pieces.push(piece))
  while (pieces.length === 0 && !socket.destroyed) await delay(20)
  socket.pause()
  for (let waited = 0; waited < waitMilliseconds && !socket.closed && performance.now() < end;) {
    await delay(lookMilliseconds)
    waited += lookMilliseconds
  }
  socket.resume()
  await Promise.race([closed, delay(waitMilliseconds)])
  socket.destroy()
  const text = Buffer.concat(pieces).toString('latin1')
  const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 'no answer'
  return `${status}, ${text.endsWith('\r\n0\r\n\r\n') ? 'whole' : 'broken off'}`
}

/**
 * Measures for how long pages fail without interruption. Counts only time in which the process is undisturbed and the
 * database answers.
 */
async function judgePages({ figures, portal, database, end }: Downloading, cookie: string): Promise<void> {
  let silent = 0
  let isBroken = false
  while (performance.now() < end) {
    const isDatabaseThere = await answers(database)
    const began = performance.now()
    const { status, milliseconds } = await lookAtPage(portal, cookie)
    const took = milliseconds + betweenPagesMilliseconds
    const isUndisturbed = isDatabaseThere && portal.undisturbedSince() < began - settleMilliseconds
    const counts = isUndisturbed && (await answers(database))
    if (status === 200) [silent, isBroken] = [0, false]
    else silent = counts ? silent + took : 0
    figures.count(`portal pages: ${status}${counts ? ', undisturbed' : ''}`)
    figures.most('longest ms that an undisturbed portal answered no page', silent)
    if (silent > limitMilliseconds && !isBroken) {
      isBroken = true
      figures.broken('P-13', `the portal answered no page for ${Math.round(silent)} ms while files were downloaded`)
    }
    await delay(betweenPagesMilliseconds)
  }
}

const answers = (database: Database): Promise<boolean> =>
  within(1000, database.ask('select 1 as one')).then(
    () => true,
    () => false,
  )

/** Requests a page. Gives up after `pagePatienceMilliseconds`. Returns the HTTP status and the counted time. */
async function lookAtPage(
  portal: Member,
  cookie: string,
): Promise<{ readonly status: number | 'no answer'; readonly milliseconds: number }> {
  const impatience = new AbortController()
  let milliseconds = 0
  const looking = setInterval(() => {
    milliseconds += lookMilliseconds
    if (milliseconds >= pagePatienceMilliseconds) impatience.abort()
  }, lookMilliseconds)
  try {
    const answer = await fetch(`${portal.url() ?? 'http://127.0.0.1:1'}/opt-outs`, {
      ...{ headers: { cookie }, redirect: 'manual', signal: impatience.signal },
    })
    await answer.arrayBuffer()
    return { status: answer.status, milliseconds }
  } catch {
    return { status: 'no answer', milliseconds }
  } finally {
    clearInterval(looking)
  }
}

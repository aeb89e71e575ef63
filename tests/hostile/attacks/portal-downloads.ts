import { hostilePassword, type Deployment } from '../deployment.ts'
import { get, scaled, type Attack } from '../attack.ts'
import { flood } from '../flood.ts'
import { stored } from '../stored.ts'

interface Prepared {
  readonly cookie: string
  readonly paths: readonly string[]
}

const month = (): string => new Date().toISOString().slice(0, 7)

/**
 * Adds top-ups of a tenth of a credit each. Also changes the balance, so that it stays the sum of the entries (P-2).
 */
async function addMovements({ database, hostileId }: Deployment, count: number): Promise<void> {
  await database.rows(
    `with entries as (
       insert into ledger (account_id, kind, amount, why)
       select $1, 1 /* LEDGER.topUp */, 1, 'a top-up with a reason that fills its row' from generate_series(1, $2::int)
       returning amount
     )
     update account set balance = balance + (select sum(amount) from entries) where id = $1`,
    [hostileId, count],
  )
}

/** Signs in as the attacking account and returns the cookie of the session. */
async function signIn(deployment: Deployment): Promise<string> {
  const answer = await fetch(`${deployment.serving('portal').url}/sign-in`, {
    method: 'POST',
    headers: { 'sec-fetch-site': 'same-origin' },
    redirect: 'manual',
    body: new URLSearchParams({ login: 'hostile', password: hostilePassword }),
  })
  const cookie = answer.headers.get('set-cookie')?.split(';')[0]
  if (cookie === undefined) throw new Error(`the portal let nobody in: ${answer.status}`)
  return cookie
}

const nextWeek = (): string => new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 16)

/** Schedules a list of numbers for next week. Every tenth number is invalid. Returns the path of the bulk send. */
async function sendToMany(deployment: Deployment, cookie: string, rows: number): Promise<string> {
  const { url } = deployment.serving('portal')
  const headers = { 'sec-fetch-site': 'same-origin', cookie }
  const page = await (await fetch(`${url}/send`, { headers })).text()
  const token = /name="token" value="([^"]+)"/.exec(page)?.[1] ?? ''
  const post = async (path: string, fields: Readonly<Record<string, string | Blob>>): Promise<string> => {
    const form = new FormData()
    for (const [name, value] of Object.entries({ token, ...fields })) form.set(name, value)
    const answer = await fetch(url + path, { method: 'POST', headers, body: form, redirect: 'manual' })
    return answer.headers.get('location') ?? `status ${answer.status}`
  }
  const numbers = Array.from({ length: rows }, (_, row) => (row % 10 === 0 ? `0${row}` : String(27_830_000_000 + row)))
  const file = new Blob([['Mobile', ...numbers].join('\r\n')])
  const draft = await post('/send', { text: 'your parcel is at the counter', time: nextWeek(), file })
  const sent = await post(draft, { revision: '0' })
  if (sent !== `${draft}/sent`) throw new Error(`no list was sent: ${draft}, ${sent}`)
  return draft
}

async function prepare(deployment: Deployment, full: boolean, paths: Paths): Promise<Prepared> {
  await stored(deployment, full)
  await addMovements(deployment, full ? 100_000 : 10_000)
  const cookie = await signIn(deployment)
  return { cookie, paths: paths(await sendToMany(deployment, cookie, full ? 10_000 : 1000)) }
}

/** Returns the attacked paths, given the path of a bulk send. */
type Paths = (bulkSend: string) => readonly string[]

const downloads = (name: string, loops: number, reads: boolean, paths: Paths): Attack => ({
  title: `${name} from the portal, ${loops} loops${reads ? '' : ' that read nothing'}`,
  by: 'rest',
  at: 'portal',
  prepare: (_hostile, full, deployment) => prepare(deployment, full, paths),
  run: (target) => {
    const prepared = target.prepared as Prepared
    const cookie = `Cookie: ${prepared.cookie}\r\n`
    flood(target, {
      connections: reads ? loops : scaled(target, loops),
      text: (loop) => get(prepared.paths[loop % prepared.paths.length] ?? '', cookie),
      answersToText: reads ? 1 : 0,
      reads,
    })
  },
})

const statements = () => [`/statement/${month()}/download`]
const files: Paths = (bulkSend) => [...statements(), '/messages/download', `${bulkSend}/results`, `${bulkSend}/refused`]
const filesAndLongPages: Paths = (bulkSend) => [
  ...files(bulkSend),
  `/statement/${month()}`,
  '/opt-outs',
  '/settings/webhooks',
]

export const statementDownloads = downloads('statements', 6, true, statements)

export const portalDownloads: readonly Attack[] = [
  statementDownloads,
  downloads('files and long pages', 60, true, filesAndLongPages),
  downloads('files', 60, false, files),
]

import { Resolver, TIMEOUT } from 'node:dns'
import { setTimeout as delay } from 'node:timers/promises'
import { PushProblem } from './endpoint.ts'

/** Resolves all addresses of a name, in any order. Throws a PushProblem if the name has no address. */
export type ResolveName = (name: string, signal: AbortSignal) => Promise<readonly string[]>

/** How long to wait for the other address family after one family has answered (RFC 8305). */
const otherFamilyMilliseconds = 100

/**
 * Resolves a name by querying the machine's DNS servers. `/etc/hosts` is not read. `dns.lookup` is not used because
 * four names whose servers never answer would block the threads that hash passwords and resolve every other name.
 * `servers` replaces the machine's DNS servers in tests.
 */
export async function resolveName(
  name: string,
  signal: AbortSignal,
  servers?: readonly string[],
): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: 1000, tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  const cancel = (): void => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const answers = await firstAnswers([
      ask((done) => resolver.resolve4(name, done)),
      ask((done) => resolver.resolve6(name, done)),
    ])
    const addresses = answers.flatMap((answer) => answer.addresses)
    if (addresses.length > 0) return addresses
    throw new PushProblem(answers.some(({ code }) => code === TIMEOUT) ? 'timeout' : 'name-not-found')
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}

interface Answer {
  readonly addresses: readonly string[]
  readonly code?: string | undefined
}

type DnsCallback = (error: NodeJS.ErrnoException | null, addresses: readonly string[]) => void

const ask = (start: (done: DnsCallback) => void): Promise<Answer> =>
  new Promise((resolve) => {
    start((error, addresses) => resolve(error === null ? { addresses } : { addresses: [], code: error.code }))
  })

/** Returns both answers, or only the first one if it has addresses and the other one is late. */
async function firstAnswers(queries: readonly Promise<Answer>[]): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  const all = Promise.all(queries.map(async (answer) => void answers.push(await answer)))
  const first = await Promise.race(queries)
  if (first.addresses.length === 0) await all
  else {
    const enough = new AbortController()
    const late = delay(otherFamilyMilliseconds, undefined, { signal: enough.signal }).catch(() => undefined)
    await Promise.race([all, late])
    enough.abort()
  }
  return [...answers]
}

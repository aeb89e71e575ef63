import { Resolver, TIMEOUT } from 'node:dns'
import { setTimeout as delay } from 'node:timers/promises'
import { PushProblem } from './endpoint.ts'

/** All addresses of a name, in any order. Throws a PushProblem if there are none. */
export type ResolveName = (name: string, signal: AbortSignal) => Promise<readonly string[]>

/** So long the addresses of the other family are waited for, once there are some of one (RFC 8305). */
const otherFamilyMilliseconds = 100

/**
 * Asks the DNS servers of this machine itself. `dns.lookup` would let four names whose servers never answer occupy the
 * threads that hash passwords and look up every other name. So `/etc/hosts` does not count. `servers`: others, for
 * tests.
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

type Asked = (error: NodeJS.ErrnoException | null, addresses: readonly string[]) => void

const ask = (start: (done: Asked) => void): Promise<Answer> =>
  new Promise((resolve) => {
    start((error, addresses) => resolve(error === null ? { addresses } : { addresses: [], code: error.code }))
  })

/** Both, or the first one with addresses if the other one is late. */
async function firstAnswers(asked: readonly Promise<Answer>[]): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  const all = Promise.all(asked.map(async (answer) => void answers.push(await answer)))
  const first = await Promise.race(asked)
  if (first.addresses.length === 0) await all
  else {
    const enough = new AbortController()
    const late = delay(otherFamilyMilliseconds, undefined, { signal: enough.signal }).catch(() => undefined)
    await Promise.race([all, late])
    enough.abort()
  }
  return [...answers]
}

import { openAccount } from '../support/accounts.ts'
import { interfaces } from '../support/attempts.ts'
import { inTurn } from '../support/in-turn.ts'
import type { Environment } from '../support/process.ts'
import { canaryRequests, type Canaries } from './canary-requests.ts'
import { deploy, type Deployment } from './deployment.ts'
import { bodyOf, raw } from './raw.ts'

const user = 'canary-of-a-user'
const password = 'canary-of-a-password'
const text = 'canary-of-a-text'
/**
 * Matches the text where an answer may contain it: an answer names an invalid value of its own request, and two
 * requests have the text as such a value.
 */
const named =
  /(?<=The content type must be application\/json; got text\/)canary-of-a-text|(?<=digits only; got \\")canary-of-a-text/
const wrongKey = 'gw_canaryOfAKeycanaryOfAKeycanaryOfAKeycanaryO'

// At full strength every log level is tested. A lower level adds lines and does not change those of a higher level.
const runs = [
  ...inTurn([
    ['the all-in-one', 'trace'],
    ['separate processes', 'trace'],
  ] as const),
  ...(process.env['HOSTILE'] === 'full'
    ? ([
        ['the all-in-one', 'debug'],
        ['the all-in-one', 'info'],
      ] as const)
    : []),
] as const

describe.each(runs)('%s at LOG_LEVEL=%s', (layout, level) => {
  let deployment: Deployment
  let canaries: Canaries
  beforeAll(async () => {
    const environment: Environment = { LOG_LEVEL: level, LOGIN_FAILURES_MAX: '20' }
    deployment = await deploy(layout, environment)
    const { key } = await openAccount(deployment.environment, user, 1000, '--password', password)
    canaries = { key, wrongKey, user, password, text }
  }, 120_000)
  afterAll(() => deployment.stop())

  const secrets = () => [canaries.key, wrongKey, password, text]
  const found = (where: string) => secrets().filter((secret) => where.includes(secret))

  /** Sends all requests to each interface and returns the answers. */
  async function sendAll(): Promise<readonly string[]> {
    const answers: string[] = []
    for (const by of interfaces) {
      const requests = [...canaryRequests[by](canaries)]
      const next = async (): Promise<void> => {
        for (let bytes = requests.pop(); bytes !== undefined; bytes = requests.pop())
          answers.push(await raw(deployment.serving(by).url, bytes))
      }
      await Promise.all(Array.from({ length: 8 }, next))
    }
    return answers
  }

  test('no log, metric or error answer contains a credential or a text, even while the database is away', async () => {
    const answers = [...(await sendAll())]
    await deployment.database.crash()
    answers.push(...(await sendAll()))
    await deployment.database.start()

    expect(answers.some((answer) => answer.startsWith('HTTP/1.1 200 '))).toBe(true)
    expect(answers.some((answer) => answer.startsWith('HTTP/1.1 503 '))).toBe(true)
    for (const answer of answers.filter((one) => !one.startsWith('HTTP/1.1 200 '))) {
      const body = bodyOf(answer)
      expect([answer, found(body.replace(named, ''))]).toEqual([answer, []])
    }
    for (const process of deployment.processes) {
      expect(found(process.output())).toEqual([])
      expect(found(await (await fetch(`${process.url}/metrics`)).text())).toEqual([])
    }
    const logged = deployment.processes.map((process) => process.output()).join('')
    if (level !== 'info') expect(logged).toContain('/api/credits.asp')
  }, 120_000)
})

import { until } from '@gateway/core/testing'
import { measure, openAccount } from '../support/accounts.ts'
import { quantile } from '../support/attempts.ts'
import { attacks } from './attacks/index.ts'
import { deploy, type Deployment } from './deployment.ts'
import { bodyOf, raw } from './raw.ts'
import { startAttacker } from './under-attack.ts'

const full = process.env['HOSTILE'] === 'full'
const password = 'a-right-password'
let deployment: Deployment
let url: string

beforeAll(async () => {
  deployment = await deploy('the all-in-one')
  url = deployment.serving('asp').url
  for (const login of ['known', 'busy', ...attacked]) {
    await openAccount(deployment.environment, login, 10, '--password', password)
  }
}, 120_000)
afterAll(() => deployment.stop())

const attacked = ['late-1', 'late-2']

const logIn = async (user: string, password: string) => {
  const begun = performance.now()
  const response = await fetch(`${url}/api/credits.asp?user=${user}&password=${password}`)
  const text = await response.text()
  return { status: response.status, text, milliseconds: performance.now() - begun }
}

test('a wrong log-in takes equally long for existing and unknown names, whether hashed or refused', async () => {
  const times = { known: [] as number[], unknown: [] as number[] }
  const compare = async (count: number, status: number) => {
    for (let i = 0; i < count; i++)
      for (const user of ['known', 'unknown'] as const) {
        const answer = await logIn(user, `guess-${i}`)
        expect(answer.status).toBe(status)
        times[user].push(answer.milliseconds)
      }
    const medians = [times.known, times.unknown].map((of) => quantile(of.splice(0), 0.5))
    return Math.max(...medians) / Math.min(...medians)
  }
  // If no password were hashed for an unknown user, the answer would be 30 times as fast.
  expect(await compare(10, 200)).toBeLessThan(4)
  // Other load can only increase the difference, so the smallest of several measurements is the most accurate.
  const looks: number[] = []
  for (let i = 0; i < 4; i++) looks.push(await compare(100, 429))
  expect(Math.min(...looks)).toBeLessThan(1.7)
}, 60_000)

test('a pair in use keeps working while another client of its network guesses', async () => {
  expect((await logIn('busy', password)).text).toBe('Credits=10')
  const guesses = await Promise.all(Array.from({ length: 15 }, (_, i) => logIn('busy', `guess-${i}`)))
  expect(guesses.filter(({ status }) => status === 429)).toHaveLength(5)
  for (let i = 0; i < 10; i++) expect((await logIn('busy', password)).text).toBe('Credits=10')
})

test('guesses are counted, and reported once a minute without the guessed values', async () => {
  const before = await measure({ url }, 'gateway_logins_total{outcome="wrong"}')
  await logIn('known-to-nobody', 'canary-of-a-guess')
  expect(await measure({ url }, 'gateway_logins_total{outcome="wrong"}')).toBe(before + 1)
  const output = deployment.serving('asp').output()
  expect(output).toMatch(/"level":"warn".*log-ins failed/)
  expect(output).not.toMatch(/canary-of-a-guess|known-to-nobody|guess-\d/)
})

test.each(
  attacks.filter(({ title }) => title.startsWith('log-ins')).map((attack, i) => [attack.title, attack, i] as const),
)(
  '%s: a right one from another network waits for at most 3 s',
  async (_title, attack, i) => {
    const attacker = startAttacker(attack, { port: Number(new URL(url).port), key: '', full: true })
    try {
      await until(() => (attacker.answers()['503'] ?? 0) + (attacker.answers()['200'] ?? 0) > 20, 30_000)
      const begun = performance.now()
      const request = `GET /api/credits.asp?user=${attacked[i] ?? ''}&password=${password} HTTP/1.1\r\nHost: x\r\n\r\n`
      const answer = await raw(url, request, { from: '127.0.3.1', silentMs: 0 })
      const milliseconds = performance.now() - begun
      expect(bodyOf(answer)).toBe('Credits=10')
      // Beside other tests a hash takes several times as long.
      expect(milliseconds).toBeLessThan(full ? 3000 : 10_000)
    } finally {
      await attacker.stop()
    }
  },
  60_000,
)

import { readFile } from 'node:fs/promises'
import { createGateway } from '@gateway/core'
import { anAccount, memoryPorts, steppingClock } from '@gateway/core/testing'
import { isDescribed } from '../testing/is-described.ts'
import { startAsp } from '../testing/start-asp.ts'
import { endpoints } from './routes.ts'

const rows = [...endpoints].map(([path, endpoint]) => [path, endpoint] as const)
const pageOf = () => readFile(new URL('../../../docs/interfaces/asp.md', import.meta.url), 'utf8')

test.each(rows)('%s reads exactly the parameters of its description', async (_path, { takes, run }) => {
  const ports = memoryPorts({ clock: steppingClock() })
  const account = await anAccount(ports)
  const read = new Set<string>()
  // Run the endpoint once with and once without values, because some parameters are read only if others are present.
  for (const value of ['1', undefined]) {
    const parameters = new Map<string, readonly string[]>()
    parameters.get = (name) => {
      read.add(name)
      return value === undefined ? undefined : [value]
    }
    await run({ gateway: createGateway(ports), account, parameters, now: ports.clock.now() })
  }
  expect([...read].sort()).toEqual(takes.map(({ name }) => name.toLowerCase()).sort())
})

test('the page lists every endpoint with its parameters and answers', async () => {
  const asp = await startAsp()
  const answer = await fetch(`${asp.url}/docs/query-string`)
  const page = (await answer.text()).replaceAll('&lt;', '<').replaceAll('&amp;', '&')
  await asp.close()
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  for (const [path, { takes, answers, wrongCredentials }] of rows) {
    const row = page.split('<tr>').find((each) => each.includes(`<code>/api${path}</code>`)) ?? ''
    const described = [...takes.map(({ name }) => name), ...answers, wrongCredentials]
    expect(described.filter((each) => !row.includes(`<code>${each}</code>`))).toEqual([])
  }
})

test.each(rows)(
  'the documentation of %s says the same',
  async (path, { summary, takes, answers, wrongCredentials }) => {
    const page = await pageOf()
    const cells = [summary, `\`${path.slice(1)}\``, `\`${wrongCredentials}\``].map((cell) =>
      cell.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
    )
    expect(page).toMatch(new RegExp(`^\\| ${cells.join(' +\\| ')} +\\|$`, 'm'))
    const section = new RegExp(`^### ${summary}\\n([\\s\\S]*?)\\n##`, 'm').exec(page)?.[1] ?? ''
    const parameters = takes.map(({ name }) => name)
    expect(parameters.filter((name) => !section.includes(name))).toEqual([])
    // The constant parts of each form, such as the word of a result or the names in the pairs of a reply.
    const words = answers
      .flatMap((form) => (form.startsWith('Error') ? [form] : form.split(/<[^>]*>|[=;&]/)))
      .filter((word) => word !== '')
    const same = path === '/deletescheduled.asp' ? page : section
    expect(words.filter((word) => !same.includes(word) && word !== 'No message ids supplied')).toEqual([])
  },
)

test.each([
  ['/auth.asp', 'Login=YES'],
  ['/credits.asp', 'Credits=1.5'],
  ['/batchmessage.asp', '27825550101=NO MESSAGE&'],
  ['/batchmessage.asp', '27825550101=1'],
  ['/requestbatch.asp', '1=SENT;2026/10/18;10:00:00&'],
  ['/httpgetreplies.asp', 'CLI=1;DateReceived=202610181000;Message=a=b;SentMessageID=1&'],
  ['/creditstransfer.asp', 'Transfer=Success&'],
  ['/listoptouts.asp', 'FAIL'],
])('an answer of %s that is not described is detected: %s', (path, text) => {
  expect(isDescribed(path, text)).toBe(false)
})

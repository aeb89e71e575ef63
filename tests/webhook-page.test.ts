import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Instant } from '@gateway/core/time'
import { webhookEventTypes, type WebhookEvent } from '@gateway/core/webhooks'
import { Webhook } from 'standardwebhooks'
import { webhookBody } from '../packages/wire/src/index.ts'
import { root } from './support/process.ts'

const page = readFileSync(join(root, 'docs/interfaces/webhooks.md'), 'utf8')
const blocks = (language: string): readonly string[] =>
  Array.from(page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g')), ([, text = '']) => text)

interface Shown {
  readonly id: string
  readonly type: string
  readonly sequence: number
  readonly occurredAt: string
  readonly data: Readonly<Record<string, string | number | null>>
}

/** Converts an example of the page into the event of core from which the example should result. */
function eventOf({ id, type, sequence, occurredAt, data }: Shown): WebhookEvent {
  const text = data['messageText']
  const number = data['mobileNumber']
  const cost = Number(data['creditCost']) * 10
  const [message, inbound] = [data['apiMessageId'], data['incomingApiMessageId'] ?? undefined]
  const answers = data['outgoingApiMessageId'] ?? undefined
  const event = { number, from: number, cost, inbound, answers, text, code: data['statusCode'] }
  const wasAccepted = data['statusErrorCode'] !== 'SENDINGFAILED'
  const content = {
    ...event,
    ...(message !== undefined && { message }),
    type,
    staysCharged: wasAccepted,
    shortCode: data['shortCode'],
  }
  return { id, sequence, occurred: Date.parse(occurredAt), data: content } as unknown as WebhookEvent
}

test('the page has an example of every event, exactly as written', () => {
  const [body = '', events = ''] = blocks('json')
  const whole = JSON.parse(body) as { timestamp: string; data: { events: Shown[] } }
  const all = [...whole.data.events, ...(JSON.parse(events) as Shown[])]
  expect(all.map(({ type }) => type).sort()).toEqual([...webhookEventTypes, 'test'].sort())
  const now = Date.parse(whole.timestamp) as Instant
  const written = JSON.parse(Buffer.from(webhookBody(all.map(eventOf), now)).toString()) as object
  expect(written).toEqual({ ...whole, data: { events: all } })
})

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`

interface Case {
  readonly secret: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const signed = (by: readonly string[], { age = 0, body = '{"type":"events","text":"Grüße €"}' } = {}): Case => {
  const at = new Date(Date.now() - age * 1000)
  const signatures = by.map((each) => new Webhook(each).sign('list-1', at, body))
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const headers = { 'webhook-id': 'list-1', 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
  return { secret, headers, body }
}
const changed = (right: Case, name: string, value: string): Case => ({
  ...right,
  headers: { ...right.headers, [name]: value },
})

type Cases = readonly (readonly [string, Case, boolean])[]

/** Signs the cases when they are needed, because programs refuse signatures that are older than five minutes. */
const signedCases = (right = signed([secret])): Cases => [
  ['a right signature', right, true],
  ['the second of two', signed([other, secret]), true],
  ['the first of two', signed([secret, other]), true],
  ['four minutes ago', signed([secret], { age: 240 }), true],
  ['an empty body', signed([secret], { body: '' }), true],
  ['another secret', signed([other]), false],
  ['another body', { ...right, body: `${right.body} ` }, false],
  ['another id', changed(right, 'webhook-id', 'list-2'), false],
  ['another time', changed(right, 'webhook-timestamp', String(Number(right.headers['webhook-timestamp']) + 1)), false],
  ['no time', changed(right, 'webhook-timestamp', ''), false],
  ['a time that is none', changed(right, 'webhook-timestamp', 'now'), false],
  ['ten minutes ago', signed([secret], { age: 600 }), false],
  ['in ten minutes', signed([secret], { age: -600 }), false],
  ['no signature', changed(right, 'webhook-signature', ''), false],
  [
    'another version',
    changed(right, 'webhook-signature', (right.headers['webhook-signature'] ?? '').replace('v1', 'v1a')),
    false,
  ],
  ['a part of it', changed(right, 'webhook-signature', (right.headers['webhook-signature'] ?? '').slice(0, 20)), false],
  ['no headers', { ...right, headers: {} }, false],
]

const programs: readonly (readonly [
  language: string,
  file: string,
  command: string,
  code: (snippet: string) => string,
])[] = [
  [
    'js',
    'check.mjs',
    process.execPath,
    (snippet) => `${snippet}
import { readFileSync } from 'node:fs'
const cases = JSON.parse(readFileSync('cases.json', 'utf8'))
console.log(JSON.stringify(cases.map(({ secret, headers, body }) => isFromGateway(secret, headers, Buffer.from(body)))))
`,
  ],
  [
    'php',
    'check.php',
    'php',
    (snippet) => `<?php
${snippet}
$cases = json_decode(file_get_contents('cases.json'), true);
echo json_encode(array_map(fn ($case) => isFromGateway($case['secret'], $case['headers'], $case['body']), $cases));
`,
  ],
  [
    'python',
    'check.py',
    'python3',
    (snippet) => `${snippet}
import json

cases = json.load(open("cases.json", encoding="utf-8"))
print(json.dumps([is_from_gateway(case["secret"], case["headers"], case["body"].encode()) for case in cases]))
`,
  ],
]

let folder: string
let cases: Cases
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gw-signatures-'))
  cases = signedCases()
  await writeFile(join(folder, 'cases.json'), JSON.stringify(cases.map(([, each]) => each)))
})
afterAll(() => rm(folder, { recursive: true }))

describe.each(programs)('the %s of the page', (language, file, command, code) => {
  const isInstalled = spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0
  if (!isInstalled)
    process.stderr.write(`NOTICE: the ${language} of webhooks.md is not run: ${command} is not installed\n`)
  const testIt = isInstalled ? test : test.skip

  testIt(
    'takes what is signed rightly, and nothing else',
    async () => {
      const snippet = blocks(language)[0] ?? ''
      await writeFile(join(folder, file), code(snippet))
      const { stdout } = await promisify(execFile)(command, [file], { cwd: folder, timeout: 110_000 })
      const found = JSON.parse(stdout) as readonly boolean[]
      expect(cases.map(([name], i) => [name, found[i]])).toEqual(cases.map(([name, , isRight]) => [name, isRight]))
    },
    120_000,
  )
})

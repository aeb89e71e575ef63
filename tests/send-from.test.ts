import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { until } from '@gateway/core/testing'
import { openAccount, type NewAccount } from './support/accounts.ts'
import { startAllInOne, type RunningGateway } from './support/gateways.ts'
import { operateJson } from './support/operate.ts'
import { killLeftovers, root } from './support/process.ts'

// Sends the requests of docs/send-from.md as the page shows them, and those that applications sign.
const secret = 'a-secret-of-the-bridge'
const [zitadelKey, authgearKey] = ['zitadel-signing-key', 'authgear-secret']

let gateway: RunningGateway
let account: NewAccount
let program: ChildProcess
let bridge: string
let page: string
beforeAll(async () => {
  page = await readFile(join(root, 'docs/send-from.md'), 'utf8')
  gateway = await startAllInOne()
  account = await openAccount(gateway.environment, 'applications', 100)
  let output = ''
  program = spawn(process.execPath, [join(root, 'docs/clients/bridge.mjs')], {
    env: {
      ...{ GATEWAY: gateway.restUrl, KEY: account.key, SECRET: secret, PORT: '0' },
      ...{ ZITADEL_KEY: zitadelKey, AUTHGEAR_KEY: authgearKey },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  program.stdout?.on('data', (piece: Buffer) => (output += piece.toString()))
  bridge = await until(() => /http:\S+/.exec(output)?.[0])
}, 180_000)
afterAll(async () => {
  program.kill()
  await gateway.stop()
  killLeftovers()
}, 120_000)

/** Returns the number of characters of the latest message to this number. */
async function charactersTo(number: string): Promise<number | undefined> {
  const operate = <Result>(...args: readonly string[]) => operateJson<Result>(args, gateway.environment)
  const { rows } = await operate<{ rows: readonly { id: number }[] }>('message', 'find', '--number', number)
  const [found] = rows
  if (found === undefined) return undefined
  const explained = await operate<{ rows: readonly { characters: number }[] }>('message', 'explain', String(found.id))
  return explained.rows[0]?.characters
}

const commands = (): readonly (readonly [string, string | undefined])[] =>
  Array.from(
    page.matchAll(/```sh\n(curl -s[\s\S]*?)```(?:\n+```text\n([\s\S]*?)```)?/g),
    ([, command = '', answer]) => [command, answer] as const,
  )

test('every request of the page is accepted, and answered as the page shows', async () => {
  expect(commands()).toHaveLength(5)
  const env = { ...process.env, GATEWAY: gateway.restUrl, KEY: account.key, BRIDGE: bridge, SECRET: secret }
  for (const [command, answer] of commands()) {
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { env })
    if (answer === undefined)
      expect([command, stdout]).toEqual([command, expect.stringMatching(/"(apiMessageId|id)":"?\d+/)])
    else expect([command, stdout.replace(/=\d+/g, '=1')]).toEqual([command, answer.trim().replace(/=\d+/g, '=1')])
  }
  expect(await charactersTo('27825550102')).toBe('Dear Ann, your parcel is here & waits'.length)
  expect(await charactersTo('27825550104')).toBe('123456 is your code'.length)
}, 60_000)

/** Returns the blocks of YAML on the page. `!secret` names an entry of another file. */
const settings = (): readonly unknown[] =>
  Array.from(page.matchAll(/```yaml\n([\s\S]*?)```/g), ([, text = '']): unknown =>
    parse(text, { customTags: [{ tag: '!secret', resolve: (name: string) => name }] }),
  )

test('the settings of the page have the form of their applications, and send the requests that it shows', () => {
  const [home, authgear] = settings()
  const { send_sms: command } = (home as { rest_command: { send_sms: Readonly<Record<string, string>> } }).rest_command
  const values = { message: 'The door is open', number: '27825550101' }
  const body = Object.entries(values).reduce(
    (text, [name, value]) => text.replace(`{{ ${name} | tojson }}`, JSON.stringify(value)),
    command['payload'] ?? '',
  )
  const [request = ''] = commands()[0] ?? []
  expect(request).toContain(`-d '${body}'`)
  expect(command).toMatchObject({ method: 'post', url: expect.stringMatching(/\/sms\/outgoing\/send$/) as string })
  expect(authgear).toMatchObject({ messaging: { custom_sms_provider: { url: 'http://127.0.0.1:8090/authgear' } } })
})

const post = async (path: string, body: string, headers: Readonly<Record<string, string>>) => {
  const response = await fetch(bridge + path, { method: 'POST', body, headers })
  return [response.status, (await response.json()) as unknown]
}
const signed = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('hex')

test('the bridge sends what Zitadel has signed, once, and nothing else', async () => {
  const body = JSON.stringify({
    contextInfo: { eventType: 'user.human.phone.code.added', recipientPhoneNumber: '+27825550111' },
    templateData: { title: 'Verify', text: 'Your code is 654321' },
    args: { code: '654321' },
  })
  const time = Math.floor(Date.now() / 1000)
  const header = (at: number, key = zitadelKey) => ({
    'ZITADEL-Signature': `t=${at},v1=${signed(key, `${at}.${body}`)}`,
  })
  const [status, answer] = await post('/zitadel', body, header(time))
  expect([status, answer]).toEqual([200, { id: expect.stringMatching(/^\d+$/) as string }])
  expect(await charactersTo('27825550111')).toBe('Your code is 654321'.length)
  expect(await post('/zitadel', body, header(time + 1))).toEqual([200, answer])
  for (const wrong of [header(time, 'another'), header(time - 400), {}])
    expect(await post('/zitadel', body, wrong)).toEqual([403, { error: 'wrong secret' }])
}, 60_000)

test('the bridge answers Authgear with its own codes', async () => {
  const bodyTo = (to: string) => JSON.stringify({ to, body: 'Your code is 111222', app_id: 'app' })
  const send = (body: string, key = authgearKey) =>
    post('/authgear', body, { 'x-authgear-body-signature': signed(key, body) })
  expect(await send(bodyTo('+27825550112'))).toEqual([200, { code: 'ok' }])
  expect(await send(bodyTo('+12'))).toEqual([200, { code: 'invalid_phone_number', error_detail: 'BADDEST' }])
  expect(await send(bodyTo('+27825550112'), 'another')).toEqual([403, { error: 'wrong secret' }])
}, 60_000)

test('the bridge reads numbers as people write them, and says which it cannot use', async () => {
  const url = (to: string, password = secret) =>
    `/url?${new URLSearchParams({ secret: password, to, text: 'Hello' }).toString()}`
  const get = async (path: string) => (await fetch(bridge + path)).status
  expect(await get(url('+27 (82) 555-0113'))).toBe(200)
  expect(await charactersTo('27825550113')).toBe('Hello'.length)
  expect([await get(url('12')), await get(url('+27825550113', 'wrong')), await get('/nothing')]).toEqual([
    422, 403, 404,
  ])
  const form = new URLSearchParams({ secret, to: '+27825550114', text: 'Hello' }).toString()
  expect((await post('/url', form, { 'content-type': 'application/x-www-form-urlencoded' }))[0]).toBe(200)
  expect(await post('/novu', '{', { 'x-api-key': secret })).toEqual([400, { error: expect.any(String) as string }])
}, 60_000)

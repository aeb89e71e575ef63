import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startRest, type Rest } from '../testing/start-rest.ts'

const run = promisify(execFile)
const packageFolder = join(import.meta.dirname, '..')
const modules = join(packageFolder, 'node_modules')
/** Users compile clients with TypeScript 6 (written in JavaScript) or 7. One client is compiled with each. */
const compiler = (name: 'typescript' | 'typescript-native') => join(packageFolder, `../../node_modules/${name}/bin/tsc`)
let rest: Rest
let folder: string

/** Folder with the packages that the client needs. */
beforeAll(async () => {
  rest = await startRest()
  folder = await mkdtemp(join(modules, '.client-'))
})
afterAll(async () => {
  await rest.close()
  await rm(folder, { recursive: true })
})

test('the client of docs/clients.md is generated, compiles, sends, queries and deletes', async () => {
  const page = await readFile(join(packageFolder, '../../docs/clients.md'), 'utf8')
  const program = /```ts\n(import createClient from 'openapi-fetch'[\s\S]*?)```/.exec(page)?.[1] ?? ''
  const wrong = `
// @ts-expect-error
await gateway.POST('/sms/outgoing/send', { body: { message: 'Hello', recipients: [{ mobileNumber: 1 }] } })
// @ts-expect-error
await gateway.POST('/sms/outgoing/nothing', { body: [1] })
`
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(join(folder, 'program.ts'), program)
  await writeFile(join(folder, 'wrong.ts'), program + wrong)
  const generator = join(modules, 'openapi-typescript/bin/cli.js')
  await run(process.execPath, [generator, `${rest.url}/docs/openapi.json`, '-o', 'gateway.ts'], { cwd: folder })
  const options =
    '--ignoreConfig --skipLibCheck --strict --module nodenext --target es2023 --lib es2023,dom --types node'.split(' ')
  await run(process.execPath, [compiler('typescript'), ...options, 'program.ts', 'wrong.ts'], { cwd: folder })
  const environment = { ...process.env, GATEWAY: rest.url, KEY: rest.key }
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: folder, env: environment })
  expect(stdout).toBe("[ 'INQUEUE' ]\n[ true ]\n")
}, 180_000)

const heyProgram = `
import { client } from './hey/client.gen'
import { getIncomingMessages, smsOutgoingSend, smsOutgoingStatus } from './hey'

async function main() {
  client.setConfig({ baseUrl: process.env['GATEWAY'] + '/api/rest/v1', auth: () => process.env['KEY'] })
  const recipients = [{ mobileNumber: '27825550101' }]
  const sent = await smsOutgoingSend({ body: { message: 'Hello there', recipients }, throwOnError: true })
  const id: number | null | undefined = sent.data.recipients[0]?.apiMessageId
  const asked = await smsOutgoingStatus({ body: [id ?? 0], throwOnError: true })
  const replies = await getIncomingMessages({ query: { limit: 1 }, throwOnError: true })
  const { error } = await smsOutgoingSend({ body: { message: ' ', recipients } })
  console.log(asked.data.messageStatuses[0]?.status, replies.data.resultsTotalAvailable, error?.errorCode)
  // @ts-expect-error
  await smsOutgoingSend({ body: { message: 7, recipients } }).catch(() => undefined)
}
void main()
`
const orvalProgram = `
import { getIncomingMessages, smsOutgoingSend, smsOutgoingStatus } from './orval/fetch'
import * as zod from './orval/zod'

async function main() {
  const headers = { Authorization: process.env['KEY'] ?? '' }
  const body = { message: 'Hello there', recipients: [{ mobileNumber: '27825550101' }] }
  const sent = await smsOutgoingSend(zod.smsOutgoingSendBody.parse(body), { headers })
  const { recipients } = zod.smsOutgoingSendResponse.parse(sent.data)
  const asked = await smsOutgoingStatus([recipients[0]?.apiMessageId ?? 0], { headers })
  const { messageStatuses } = zod.smsOutgoingStatusResponse.parse(asked.data)
  const replies = zod.getIncomingMessagesResponse.parse((await getIncomingMessages({ limit: 1 }, { headers })).data)
  const refused = await smsOutgoingSend({ ...body, message: ' ' }, { headers })
  const code = refused.status === 422 ? refused.data.errorCode : undefined
  console.log(messageStatuses[0]?.status, replies.resultsTotalAvailable, code)
  // @ts-expect-error
  await smsOutgoingSend({ ...body, message: 7 }, { headers })
}
void main()
`

test('clients by hey-api and by orval, with schemas for zod, are generated, compile, send and read', async () => {
  // Below a node_modules folder, the compiler would treat the generated code as a library.
  const own = await mkdtemp(join(tmpdir(), 'gw-clients-'))
  await symlink(modules, join(own, 'node_modules'))
  const document = `${rest.url}/docs/openapi.json`
  const orval = (client: string) => ({
    input: { target: document },
    output: {
      target: `./orval/${client}.ts`,
      client,
      ...(client === 'fetch' && { baseUrl: `${rest.url}/api/rest/v1` }),
    },
  })
  await Promise.all([
    writeFile(join(own, 'package.json'), '{ "type": "commonjs" }'),
    writeFile(join(own, 'hey-program.ts'), heyProgram),
    writeFile(join(own, 'orval-program.ts'), orvalProgram),
    writeFile(
      join(own, 'orval.config.cjs'),
      `module.exports = ${JSON.stringify({ fetch: orval('fetch'), zod: orval('zod') })}`,
    ),
  ])
  const tool = (path: string, ...args: readonly string[]) =>
    run(process.execPath, [join(modules, path), ...args], { cwd: own })
  const [{ stdout: printed }] = await Promise.all([
    tool('orval/dist/bin/orval.js', '--config', 'orval.config.cjs'),
    tool('@hey-api/openapi-ts/bin/run.js', '-i', document, '-o', 'hey', '-c', '@hey-api/client-fetch'),
  ])
  expect(printed).not.toContain('⚠')
  const options =
    '--ignoreConfig --skipLibCheck --strict --esModuleInterop --module commonjs --moduleResolution bundler'
  const target = '--target es2023 --lib es2023,dom,dom.iterable --types node'
  const types = ['--typeRoots', join(packageFolder, '../../node_modules/@types')]
  const programs = ['hey-program.ts', 'orval-program.ts']
  const all = [...options.split(' '), ...target.split(' '), ...types, ...programs]
  await run(process.execPath, [compiler('typescript-native'), ...all], { cwd: own })
  const env = { ...process.env, GATEWAY: rest.url, KEY: rest.key }
  for (const program of ['hey-program.js', 'orval-program.js']) {
    const { stdout } = await run(process.execPath, [program], { cwd: own, env })
    expect([program, stdout]).toEqual([program, 'NOTFOUND 0 blank-message\n'])
  }
  await rm(own, { recursive: true })
}, 180_000)

test('the linters spectral and redocly accept the document, and report a planted mistake', async () => {
  const document = (await (await fetch(`${rest.url}/docs/openapi.json`)).json()) as { tags: unknown[] }
  const mistaken = JSON.stringify(document).replace(
    '"operationId":"smsOutgoingSend"',
    '"operationId":"smsOutgoingStatus"',
  )
  await writeFile(join(folder, 'good.json'), JSON.stringify(document))
  await writeFile(join(folder, 'bad.json'), mistaken)
  await writeFile(join(folder, 'ruleset.yaml'), 'extends: ["spectral:oas"]\n')
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const lint = async (path: string, ...args: readonly string[]): Promise<string> => {
    const linted = run(process.execPath, [join(modules, path), 'lint', ...args], {
      cwd: folder,
      env,
      maxBuffer: 2 ** 26,
    })
    // Each linter exits with 1 if it reports a problem.
    const { stdout } = await linted.catch((error: unknown) => error as { readonly stdout: string })
    return stdout
  }
  const [spectral, redocly] = await Promise.all([
    lint('@stoplight/spectral-cli/dist/index.js', '-q', '-f', 'json', '-r', 'ruleset.yaml', 'good.json', 'bad.json'),
    lint('@redocly/cli/bin/cli.js', '--format', 'json', '--extends', 'recommended', 'good.json', 'bad.json'),
  ])
  const ofSpectral = (JSON.parse(spectral) as { source: string; code: string }[]).map(({ source, code }) => [
    source.split('/').at(-1),
    code,
  ])
  expect(ofSpectral).toEqual(ofSpectral.map(() => ['bad.json', 'operation-operationId-unique']))
  expect(ofSpectral.length).toBeGreaterThan(0)
  const ofRedocly = [...redocly.matchAll(/"ruleId": "([^"]*)"[^]*?"ref": "([^"]*)"/g)].map(([, rule, ref]) => [
    ref,
    rule,
  ])
  expect(ofRedocly).toEqual(ofRedocly.map(() => ['bad.json', 'operation-operationId-unique']))
  expect(ofRedocly.length).toBeGreaterThan(0)
}, 180_000)

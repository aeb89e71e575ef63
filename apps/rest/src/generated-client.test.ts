import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startRest, type Rest } from '../testing/start-rest.ts'

const run = promisify(execFile)
const packageFolder = join(import.meta.dirname, '..')
const modules = join(packageFolder, 'node_modules')
let rest: Rest
let folder: string

/** Where the packages that the client needs are found. */
beforeAll(async () => {
  rest = await startRest()
  folder = await mkdtemp(join(modules, '.client-'))
})
afterAll(async () => {
  await rest.close()
  await rm(folder, { recursive: true })
})

test('the client of docs/clients.md is generated, compiles, and sends, asks and deletes', async () => {
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
  const tsc = join(packageFolder, '../../node_modules/typescript/bin/tsc')
  const options =
    '--ignoreConfig --skipLibCheck --strict --module nodenext --target es2023 --lib es2023,dom --types node'.split(' ')
  await run(process.execPath, [tsc, ...options, 'program.ts', 'wrong.ts'], { cwd: folder })
  const environment = { ...process.env, GATEWAY: rest.url, KEY: rest.key }
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: folder, env: environment })
  expect(stdout).toBe("[ 'INQUEUE' ]\n[ true ]\n")
}, 180_000)

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { removeCluster, startEmbeddedPostgres } from '@gateway/embedded-postgres'
import { startRegistry, type Registry } from './support/local-registry.ts'
import { copyCluster, dataFolder, root } from './support/process.ts'

const run = promisify(execFile)
let registry: Registry
let project: string
let program: string
let printed: string
/** That of the other interfaces. */
let further: string
let printedByFurther: string
/** The first program of the page, with the ports of PostgreSQL as the page makes them. */
let onPostgres: string
let printedOnPostgres: string

const has = (name: string): boolean => existsSync(join(project, 'node_modules', name))
/** What is measured in time differs from run to run. */
const comparable = (text: string): string => text.replace(/"timeStamp":"\d{17}"/g, '"timeStamp":"…"')

/** A plain project outside the workspace, which installs what the packing command says. */
beforeAll(async () => {
  const page = await readFile(join(root, 'docs', 'embedding.md'), 'utf8')
  const blocks = Array.from(page.matchAll(/```\w*\n([\s\S]*?)```/g), ([, code = '']) => code)
  const at = blocks.findIndex((block) => block.includes("from '@gateway/rest'"))
  ;[program = '', printed = ''] = blocks.slice(at)
  const next = blocks.findIndex((block) => block.includes("from '@gateway/asp'"))
  ;[further = '', printedByFurther = ''] = blocks.slice(next)
  const [first = '', printedFirst = ''] = blocks
  const made = blocks.find((block) => block.includes("from '@gateway/adapters-postgres'")) ?? ''
  onPostgres = `${made}${first.replace(/^.*memoryPorts.*$/gm, '')}\nawait postgres.close()\n`
  printedOnPostgres = printedFirst

  registry = await startRegistry()
  project = await realpath(await mkdtemp(join(tmpdir(), 'gateway-packages-')))
  await writeFile(join(project, 'package.json'), '{ "name": "plain", "private": true, "type": "module" }')
  const pack = join(root, 'scripts', 'pack.mjs')
  const asked = ['rest', 'asp', 'xml', 'adapters-node', 'adapters-postgres', 'adapters-webhooks']
  expect(page).toContain(`npx pnpm pack-all /tmp/packed ${asked.join(' ')}\n`)
  const { stdout } = await run(process.execPath, [pack, join(project, 'packed'), ...asked])
  const [npm = '', install = '', ...files] = stdout.trim().split(' ')
  expect([npm, install, files.length]).toEqual(['npm', 'install', 9])
  const settings = [`--registry=${registry.url}`, `--cache=${join(project, 'cache')}`, '--no-audit', '--no-fund']
  await run(npm, [install, ...files, 'express', '@types/node', ...settings], { cwd: project })
}, 300_000)

afterAll(async () => {
  await registry.close()
  await rm(project, { recursive: true, force: true })
})

test('what was asked for is installed, and neither an embedded PostgreSQL nor what only a main needs', () => {
  expect(['@gateway/rest', '@gateway/adapters-postgres', 'pg', 'ajv', 'express'].filter((name) => !has(name))).toEqual(
    [],
  )
  const others = [
    '@gateway/embedded-postgres',
    '@embedded-postgres',
    '@gateway/composition',
    '@gateway/dispatcher',
    'supertest',
  ]
  expect(others.filter(has)).toEqual([])
})

test('the second program of docs/embedding.md has under 50 lines and prints what the page says', async () => {
  expect(program.trimEnd().split('\n').length).toBeLessThan(50)
  await writeFile(join(project, 'program.js'), program)
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: project })
  expect(comparable(stdout)).toBe(comparable(printed))
})

test('its program of the other interfaces has under 50 lines and prints what the page says', async () => {
  expect(further.trimEnd().split('\n').length).toBeLessThan(50)
  await writeFile(join(project, 'further.js'), further)
  const { stdout } = await run(process.execPath, ['further.js'], { cwd: project })
  expect(stdout).toBe(printedByFurther)
})

test('its first program prints the same on a new PostgreSQL, with the ports that the page makes', async () => {
  expect(onPostgres).not.toContain('memoryPorts')
  await writeFile(join(project, 'on-postgres.js'), onPostgres)
  const data = await dataFolder()
  const dataDir = join(data.path, 'db')
  await copyCluster(dataDir)
  const database = await startEmbeddedPostgres({ dataDir })
  const env = { ...process.env, DATABASE_URL: database.connectionString }
  const { stdout } = await run(process.execPath, ['on-postgres.js'], { cwd: project, env }).finally(async () => {
    await database.stop()
    await removeCluster(dataDir)
    await data.remove()
  })
  expect(stdout).toBe(printedOnPostgres)
}, 120_000)

test('they are TypeScript, too, with moduleResolution nodenext', async () => {
  const wrong = `import { restRouter } from '@gateway/rest'
// @ts-expect-error
restRouter('no gateway', 1)
`
  const files = { 'program.ts': program, 'further.ts': further, 'on-postgres.ts': onPostgres, 'wrong.ts': wrong }
  for (const [name, text] of Object.entries(files)) await writeFile(join(project, name), text)
  const options = '--strict --noEmit --module nodenext --moduleResolution nodenext --target es2023 --types node'.split(
    ' ',
  )
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const checked = run(process.execPath, [tsc, ...options, ...Object.keys(files)], { cwd: project })
  const complaints = await checked.then(
    ({ stdout }) => stdout,
    (error: unknown) => (error as { stdout: string }).stdout,
  )
  expect(complaints).toBe('')
}, 300_000)

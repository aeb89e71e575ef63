import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSecretsKey } from '@gateway/adapters-node'
import { anOperator } from '../../testing/operate.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-init-'))
})
afterAll(() => rm(folder, { recursive: true }))

test('init creates new secrets and all settings of deploy/compose.yaml in a file that only its owner can read', async () => {
  const files = [join(folder, 'one.env'), join(folder, 'two.env')]
  const made: Record<string, string>[] = []
  for (const file of files) {
    const { code, out, err } = await anOperator().run(['init', '--file', file, '--domain', 'sms.example.com', '--json'])
    expect([code, err]).toEqual([0, ''])
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const text = await readFile(file, 'utf8')
    const settings: Record<string, string> = {}
    for (const [, name = '', value = ''] of text.matchAll(/^([A-Z_]+)=(.*)$/gm)) settings[name] = value
    expect(JSON.parse(out)).toEqual({ file, settings: Object.keys(settings) })
    made.push(settings)
  }
  const [one = {}, two = {}] = made
  expect(one['DOMAIN']).toBe('sms.example.com')
  expect(() => readSecretsKey(one['SECRETS_KEY'] ?? '')).not.toThrow()
  const compose = await readFile(new URL('../../../../deploy/compose.yaml', import.meta.url), 'utf8')
  const needed = new Set(Array.from(compose.matchAll(/\$\{([A-Z_]+):\?/g), ([, name = '']) => name))
  expect(needed.size).toBeGreaterThan(2)
  for (const name of needed) {
    expect(one[name]).toMatch(/^[\w+/=-]{20,}$/)
    expect(one[name]).not.toBe(two[name])
  }
})

test('init never overwrites a file, and refuses an invalid host name', async () => {
  const file = join(folder, 'three.env')
  expect((await anOperator().run(['init', '--file', file])).code).toBe(0)
  const before = await readFile(file, 'utf8')
  expect(await anOperator().run(['init', '--file', file])).toMatchObject({ code: 1, out: '' })
  expect(await readFile(file, 'utf8')).toBe(before)
  const wrong = await anOperator().run([
    'init',
    '--file',
    join(folder, 'four.env'),
    '--domain',
    'https://sms.example.com',
  ])
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('is not a host name')])
})

test('init warns only in a git checkout that does not ignore the file', async () => {
  const checkout = join(folder, 'checkout')
  await mkdir(join(checkout, 'deploy'), { recursive: true })
  execFileSync('git', ['init', '--quiet', checkout])
  const warning = /is in a git checkout that does not ignore it: add it to \.gitignore/
  const open = await anOperator().run(['init', '--file', join(checkout, 'deploy', '.env')])
  expect([open.code, open.err]).toEqual([0, expect.stringMatching(warning)])
  await writeFile(join(checkout, '.gitignore'), '*.env\n')
  const ignored = await anOperator().run(['init', '--file', join(checkout, 'deploy', 'other.env')])
  expect([ignored.code, ignored.err]).toEqual([0, ''])
  const outside = await anOperator().run(['init', '--file', join(folder, 'five.env')])
  expect([outside.code, outside.err]).toEqual([0, ''])
})

test('init warns where Docker would copy the file into an image', async () => {
  const context = join(folder, 'context')
  await mkdir(join(context, 'deploy'), { recursive: true })
  await writeFile(join(context, '.dockerignore'), '# images\n**/.env\n**/.env.*\n**/*.env\n')
  const notes = async (name: string) => {
    const { code, err } = await anOperator().run(['init', '--file', join(context, 'deploy', name)])
    expect(code).toBe(0)
    return err
  }
  expect(await notes('prod')).toMatch(/prod is not excluded from images of Docker: add it to .*\.dockerignore/)
  for (const name of ['.env', '.env.prod', 'prod.env']) expect(await notes(name)).toBe('')
  await writeFile(join(context, '.dockerignore'), 'deploy/staging\n')
  expect(await notes('staging')).toBe('')
})

test('created settings files are excluded from commits and images of this repository', async () => {
  const root = join(import.meta.dirname, '../../../..')
  for (const file of ['.env', 'deploy/.env', 'deploy/.env.new', 'deploy/production.env', 'secrets.key'])
    execFileSync('git', ['-C', root, 'check-ignore', '--no-index', '--quiet', file])
  const patterns = (await readFile(join(root, '.dockerignore'), 'utf8')).split('\n')
  expect(patterns).toEqual(expect.arrayContaining(['**/.env', '**/.env.*', '**/*.env', '**/secrets.key']))
})

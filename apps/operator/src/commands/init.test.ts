import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSecretsKey } from '@gateway/adapters-node'
import { anOperator } from '../../testing/operate.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-init-'))
})
afterAll(() => rm(folder, { recursive: true }))

test('it makes new secrets, everything that deploy/compose.yaml asks for, in a file for its owner alone', async () => {
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

test('it never writes over a file, and refuses what is no name of a host', async () => {
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
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('is not a name of a host')])
})

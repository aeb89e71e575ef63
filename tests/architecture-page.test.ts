import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..')
const adapters = ['postgres', 'simulator', 'node', 'webhooks']

/** Returns the path of a file that the architecture page names in the form `package:path`. */
function fileOf(name: string, path: string): string {
  if (adapters.includes(name)) return `packages/adapters-${name}/src/${path}`
  const inPackage = `packages/${name}/src/${path}`
  // `smpp` is the name of a package and of an app.
  return existsSync(join(root, inPackage)) || !existsSync(join(root, 'apps', name))
    ? inPackage
    : `apps/${name}/src/${path}`
}

const filesNamedIn = (page: string): readonly string[] =>
  [...page.matchAll(/\b([a-z][a-z-]*):([\w/.-]+\.ts)\b/g)].map(([, name = '', path = '']) => fileOf(name, path))

test('each file that the architecture and the glossary name exists', async () => {
  const pages = await Promise.all(
    ['architecture', 'glossary', 'mechanisms'].map((page) => readFile(join(root, `docs/${page}.md`), 'utf8')),
  )
  const files = pages.flatMap(filesNamedIn)
  expect(files.length).toBeGreaterThan(150)
  expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

test('a file that does not exist is found by its name', () => {
  const files = filesNamedIn('`core:gone.ts`, then\n   postgres:sql/accept.ts  and rest:router.ts')
  expect(files.map((path) => existsSync(join(root, path)))).toEqual([false, true, true])
})

test('each drawing shows what its text source says', async () => {
  await promisify(execFile)(process.execPath, [join(root, 'scripts/draw.mjs'), '--check'])
})

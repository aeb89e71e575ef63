import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { release, versionLine } from '../packages/server/src/version.ts'
import { dataFolder, killLeftovers, root, runGateway, startApp, gatewayJson } from './support/process.ts'

afterEach(killLeftovers)

const versionIn = (folder: string): string =>
  (JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as { version: string }).version
const version = versionIn('.')

test('all packages have one version', () => {
  expect(release.version).toBe(version)
  const folders = ['packages', 'apps'].flatMap((of) => readdirSync(join(root, of)).map((name) => join(of, name)))
  expect(folders.filter((folder) => versionIn(folder) !== version)).toEqual([])
})

test('every program refuses a Node version older than the packages need, by the same check', () => {
  const check = (folder: string) => readFileSync(join(root, 'packages', folder, 'src/refuse-old-node.ts'), 'utf8')
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { engines: { node: string } }
  const [, major = '', minor = ''] = /^>=(\d+)\.(\d+)$/.exec(engines.node) ?? []
  expect(check('server')).toContain(`= [${major}, ${minor}] as const`)
  // These two programs do not use the package `server`, so each has a copy of its check.
  for (const folder of ['conformance', 'smsc-simulator']) {
    expect(check(folder)).toBe(check('server'))
    const main = readFileSync(join(root, 'packages', folder, 'src/main.ts'), 'utf8')
    expect(Array.from(main.matchAll(/^import .*/gm), ([line]) => line)).toEqual([
      "import { refuseOldNode } from './refuse-old-node.ts'",
    ])
  }
})

test('the command line, health, the first log line and the list of dispatchers show the version', async () => {
  const data = await dataFolder()
  try {
    const environment = { DATA_DIR: data.path }
    expect(await runGateway(['--version'], environment)).toMatchObject({ code: 0, out: `${versionLine}\n`, err: '' })
    const dispatcher = await startApp('dispatcher', environment)
    const [first = ''] = dispatcher.output().split('\n')
    expect(JSON.parse(first)).toMatchObject({ msg: 'starting', name: 'dispatcher', ...release })
    for (const path of ['live', 'ready']) {
      const url = `${dispatcher.url}/health/${path}`
      expect(await (await fetch(url)).json()).toMatchObject(release)
      expect((await fetch(url, { method: 'HEAD' })).status).toBe(200)
    }
    const listed = await gatewayJson<{ rows: readonly { version: string }[] }>(['dispatcher', 'list'], environment)
    expect(listed.rows.map((one) => one.version)).toEqual([version])
    expect(await dispatcher.stop()).toBe(0)
  } finally {
    await data.remove()
  }
}, 120_000)

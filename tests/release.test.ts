import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './support/process.ts'

/** Separate checkout, because the script changes files that other tests read. */
const checkout = mkdtempSync(join(tmpdir(), 'gateway-release-'))
const released = join(checkout, 'release', '99.0.0')

const run = (command: string, ...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: checkout, encoding: 'utf8' })
  return { status, out: stdout.trim(), err: stderr.trim() }
}
const release = (...args: readonly string[]) => run(process.execPath, 'scripts/release.mjs', ...args)
const changelog = () => readFileSync(join(checkout, 'CHANGELOG.md'), 'utf8')

beforeAll(() => {
  for (const name of [
    'packages',
    'apps',
    'scripts',
    'package.json',
    'pnpm-lock.yaml',
    'pnpm-workspace.yaml',
    'LICENSE',
    'docs',
    'deploy',
  ])
    cpSync(join(root, name), join(checkout, name), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (from) => !/\/(?:src|testing|dist-testing)$/.test(from),
    })
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
  writeFileSync(join(checkout, '.gitignore'), 'node_modules\ndist\nrelease\n')
  writeFileSync(
    join(checkout, 'CHANGELOG.md'),
    '# Changelog\n\n## Unreleased\n\n- One change.\n\n## 0.0.1 - 2026-01-01\n\n- Old.\n',
  )
  run('git', 'init', '--quiet')
  run('git', 'config', 'user.name', 'Tester')
  run('git', 'config', 'user.email', 'tester@example.org')
  run('git', 'add', '.')
  run('git', 'commit', '--quiet', '--message', 'All')
})

afterAll(() => rmSync(checkout, { recursive: true, force: true }))

test('a dry run makes packages, a bill of materials and checksums, and leaves the checkout as it was', () => {
  const head = run('git', 'rev-parse', 'HEAD').out
  const log = changelog()
  expect(release('99.0.0', '--dry-run')).toMatchObject({ status: 0, err: '' })
  expect(run('git', 'status', '--porcelain').out).toBe('')
  expect([run('git', 'rev-parse', 'HEAD').out, run('git', 'tag').out, changelog()]).toEqual([head, '', log])

  const names = readdirSync(released)
  const packages = ['packages', 'apps'].flatMap((group) => readdirSync(join(root, group)))
  expect(names).toEqual(
    expect.arrayContaining(packages.map((name) => `gateway-${name.replace(/^gateway-/, '')}-99.0.0.tgz`)),
  )
  expect(names).toHaveLength(packages.length + 2)

  const sums = readFileSync(join(released, 'SHA256SUMS'), 'utf8').trimEnd().split('\n')
  const digest = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(released, name)))
      .digest('hex')
  const others = names.filter((name) => name !== 'SHA256SUMS').sort()
  expect(sums).toEqual(others.map((name) => `${digest(name)}  ${name}`))

  mkdirSync(join(checkout, 'release', 'server'))
  run('tar', '-xzf', join(released, 'gateway-server-99.0.0.tgz'), '-C', join(checkout, 'release', 'server'))
  const server = join(checkout, 'release', 'server', 'package')
  expect(JSON.parse(readFileSync(join(server, 'package.json'), 'utf8'))).toMatchObject({
    version: '99.0.0',
    gitHead: head,
  })
  const line = `import(${JSON.stringify(join(server, 'dist', 'version.js'))}).then((it) => console.log(it.versionLine))`
  expect(run(process.execPath, '--eval', line).out).toBe(`99.0.0 (${head.slice(0, 12)})`)
})

test('the bill of materials names exactly the installed packages, with their licences', () => {
  interface Component {
    readonly 'bom-ref': string
    readonly purl: string
    readonly licenses?: readonly unknown[]
  }
  const bill = JSON.parse(readFileSync(join(released, 'gateway-99.0.0.cdx.json'), 'utf8')) as {
    readonly metadata: { readonly component: Component }
    readonly components: readonly Component[]
    readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[]
  }
  expect(bill).toMatchObject({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    metadata: { component: { name: 'gateway', version: '99.0.0' } },
  })
  const purls = bill.components.map((component) => component.purl)
  expect(purls).toContain('pkg:npm/%40gateway/rest@99.0.0')
  expect(purls.filter((purl) => /^pkg:npm\/(?:express|pg)@/.test(purl))).toHaveLength(2)
  expect(purls.filter((purl) => /^pkg:npm\/(?:jest|eslint|typescript)@/.test(purl))).toEqual([])
  expect(bill.components.filter(({ licenses = [] }) => licenses.length === 0)).toEqual([])
  const refs = new Set([bill.metadata.component, ...bill.components].map((component) => component['bom-ref']))
  expect(refs.size).toBe(bill.components.length + 1)
  const named = bill.dependencies.flatMap(({ ref, dependsOn = [] }) => [ref, ...dependsOn])
  expect(named.filter((ref) => !refs.has(ref))).toEqual([])
})

test.each([
  ['no version', [], /Name the version/],
  ['what is no version', ['v99'], /Name the version/],
  ['an unknown option', ['99.0.1', '--force'], /--force/],
  ['a version that is not later', ['0.0.9'], /0\.0\.9 is not later than/],
  ['a folder that is not empty', ['99.0.1', '--out', '.'], /is not empty/],
])('%s is refused, and nothing is changed', (_, args, reason) => {
  const refused = release(...args)
  expect(refused.status).toBe(1)
  expect(refused.err).toMatch(reason)
  expect(run('git', 'status', '--porcelain').out).toBe('')
})

test('a release refuses a checkout with changes, an existing tag, and a changelog without news', () => {
  writeFileSync(join(checkout, 'note.txt'), 'a change')
  expect(release('99.0.1').err).toMatch(/not committed/)
  rmSync(join(checkout, 'note.txt'))
  run('git', 'tag', 'v99.0.1')
  expect(release('99.0.1').err).toMatch(/There is a tag v99\.0\.1/)
  writeFileSync(join(checkout, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n## 0.0.1 - 2026-01-01\n\n- Old.\n')
  expect(release('99.0.1', '--dry-run').err).toMatch(/nothing under "Unreleased"/)
})

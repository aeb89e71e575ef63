/**
 * Makes a release (RELEASING.md): the version of all packages, the section of the changelog, commit and tag, and a
 * folder with the packed packages, a bill of materials and checksums. With --dry-run the checkout is afterwards as
 * before, without commit or tag.
 *
 *   npx pnpm release <version> [--dry-run] [--out <folder>]        npx pnpm release 0.2.0 --dry-run
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const { positionals, values } = read()
const [version = ''] = positionals
const isDry = values['dry-run']
const tag = `v${version}`
const folder = resolve(values.out ?? join(root, 'release', version))

const changelog = join(root, 'CHANGELOG.md')
const server = join(root, 'packages/server/package.json')
/** File that names the image to run. */
const kustomization = join(root, 'deploy/kubernetes/overlays/production/kustomization.yaml')
const manifests = [
  join(root, 'package.json'),
  ...['packages', 'apps'].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => join(root, group, name, 'package.json')),
  ),
]
const before = new Map([changelog, kustomization, ...manifests].map((path) => [path, readFileSync(path, 'utf8')]))

check()
let isCommitted = false
let failed
try {
  for (const path of manifests) change(path, /^( {2}"version": )"[^"]+"/m, `$1"${version}"`)
  change(kustomization, /^( {4}newTag: ).*$/m, `$1${version}`)
  change(changelog, /^## Unreleased\n/m, `## Unreleased\n\n## ${version} - ${new Date().toISOString().slice(0, 10)}\n`)
  if (!isDry) {
    git('commit', '--quiet', '--message', `Release ${version}`, '--', changelog, kustomization, ...manifests)
    isCommitted = true
  }
  makeArtefacts()
  if (!isDry) git('tag', '--annotate', '--message', `Version ${version}`, tag)
} catch (error) {
  failed = error
} finally {
  if (!isCommitted) for (const [path, text] of before) writeFileSync(path, text)
}
if (failed !== undefined) {
  const undo = isCommitted ? '\nThe commit is made, the tag is not. Before another try: git reset --hard HEAD~1' : ''
  fail(`${failed.message}${undo}`)
}
console.log(`${folder}: ${readdirSync(folder).length} files`)
console.log(isDry ? 'Nothing was changed, committed or tagged.' : `git push origin HEAD ${tag}`)

function check() {
  const present = JSON.parse(before.get(manifests[0])).version
  if (!/^\d+\.\d+\.\d+$/.test(version)) fail('Name the version: npx pnpm release <major.minor.patch> [--dry-run]')
  if (!isLater(version, present)) fail(`${version} is not later than ${present}.`)
  const [, unreleased = ''] = /^## Unreleased\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(before.get(changelog)) ?? []
  if (unreleased.trim() === '') fail('CHANGELOG.md has nothing under "Unreleased".')
  if (existsSync(folder) && readdirSync(folder).length > 0) fail(`${folder} is not empty.`)
  if (isDry) return
  if (git('status', '--porcelain') !== '') fail('There are changes that are not committed.')
  if (git('tag', '--list', tag) !== '') fail(`There is a tag ${tag}.`)
}

/**
 * Creates the packed packages, then the bill of materials and the checksums. Stores the commit in the packed package
 * `server`, which prints it.
 */
function makeArtefacts() {
  if (!isDry) build()
  mkdirSync(folder, { recursive: true })
  const committed = readFileSync(server, 'utf8')
  change(server, /^( {2}"version": "[^"]+",\n)/m, `$1  "gitHead": "${git('rev-parse', 'HEAD')}",\n`)
  try {
    node(join(root, 'scripts/pack.mjs'), folder)
  } finally {
    writeFileSync(server, committed)
  }
  const bill = join(folder, `gateway-${version}.cdx.json`)
  const sbomOptions = [
    '--sbom-format',
    'cyclonedx',
    '--sbom-spec-version',
    '1.6',
    '--sbom-type',
    'application',
    '--prod',
  ]
  node(join(root, 'node_modules/pnpm/bin/pnpm.mjs'), 'sbom', ...sbomOptions, '--out', bill)
  addOldLicences(bill)
  const names = readdirSync(folder).sort()
  const sums = names.map((name) => `${digestOf(join(folder, name))}  ${name}\n`)
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
}

/** Adds licences of packages that list them in the form of npm before 2014. */
function addOldLicences(bill) {
  const read = JSON.parse(readFileSync(bill, 'utf8'))
  for (const component of read.components) {
    if (component.licenses !== undefined) continue
    const { group, name, version: componentVersion } = component
    const full = group === undefined ? name : `${group}/${name}`
    const store = join(
      root,
      'node_modules/.pnpm',
      `${full.replace('/', '+')}@${componentVersion}`,
      'node_modules',
      full,
    )
    const { licenses = [] } = JSON.parse(readFileSync(join(store, 'package.json'), 'utf8'))
    component.licenses = licenses.map(({ type }) => ({ license: { id: type } }))
  }
  writeFileSync(bill, JSON.stringify(read, undefined, 2))
}

function digestOf(path) {
  const hash = createHash('sha256')
  return hash.update(readFileSync(path)).digest('hex')
}

/** Builds from an empty folder, because an old build may contain files whose source is gone. */
function build() {
  for (const path of manifests.slice(1))
    for (const name of ['dist', 'dist-testing']) rmSync(join(dirname(path), name), { recursive: true, force: true })
  node(join(root, 'node_modules/typescript-native/bin/tsc'), '-b', 'tsconfig.build.json')
  node(join(root, 'scripts/islands.mjs'))
}

function isLater(one, other) {
  const [a, b] = [one, other].map((each) => each.split('.').map(Number))
  const at = a.findIndex((part, i) => part !== b[i])
  return at >= 0 && a[at] > b[at]
}

function change(path, pattern, replacement) {
  const text = readFileSync(path, 'utf8')
  if (!pattern.test(text)) throw new Error(`${path} has no ${String(pattern)}`)
  writeFileSync(path, text.replace(pattern, replacement))
}

function git(...args) {
  return run('git', args)
}

function node(...args) {
  return run(process.execPath, args)
}

function run(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${[command, ...args].join(' ')}: ${error?.message ?? `${stdout}${stderr}`}`)
  return stdout.trim()
}

function read() {
  try {
    return parseArgs({ allowPositionals: true, options: { 'dry-run': { type: 'boolean' }, out: { type: 'string' } } })
  } catch (error) {
    return fail(error.message)
  }
}

function fail(message) {
  console.error(message)
  process.exit(1)
}

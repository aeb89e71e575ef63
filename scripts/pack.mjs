/**
 * Packs packages and apps into one folder, as files that npm installs, and prints the command that installs them. Packs
 * the named ones with their dependencies in this workspace; without names, all. Needs a build, which the command runs
 * first:
 *
 * npx pnpm pack-all <folder> [package …]        npx pnpm pack-all /tmp/packed rest adapters-postgres
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const [folder, ...names] = process.argv.slice(2)
if (folder === undefined) fail('Name the folder to pack into: npx pnpm pack-all <folder> [package …]')

const manifests = ['packages', 'apps'].flatMap((group) =>
  readdirSync(join(root, group)).map((name) => {
    const path = join(root, group, name)
    return { path, ...JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) }
  }),
)
const byName = new Map(manifests.map((manifest) => [manifest.name, manifest]))

const selected = new Set()
for (const name of names.length === 0 ? byName.keys() : names.map(nameOf)) want(name)

const target = resolve(folder)
mkdirSync(target, { recursive: true })
const filters = [...selected].flatMap((name) => ['--filter', name])
const args = [join(root, 'node_modules/pnpm/bin/pnpm.mjs'), ...filters, 'pack', '--pack-destination', target]
const packed = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
if (packed.status !== 0) fail(`The packages cannot be packed:\n${packed.stdout}${packed.stderr}`)
console.log(`npm install ${[...selected].map((name) => join(target, fileOf(byName.get(name)))).join(' ')}`)

/**
 * Selects a package and its dependencies in this workspace. Optional dependencies are selected only if they are named.
 */
function want(name) {
  const manifest = byName.get(name)
  if (manifest === undefined) fail(`There is no package ${name}; there are ${[...byName.keys()].join(', ')}.`)
  if (selected.has(name)) return
  selected.add(name)
  for (const other of Object.keys(manifest.dependencies ?? {})) if (byName.has(other)) want(other)
}

/** Returns the full name of a package that is named by its folder. */
function nameOf(folderName) {
  return byName.has(folderName) ? folderName : `@gateway/${folderName}`
}

function fileOf({ name, version }) {
  return `${name.replace(/^@/, '').replace('/', '-')}-${version}.tgz`
}

function fail(message) {
  console.error(message)
  process.exit(1)
}

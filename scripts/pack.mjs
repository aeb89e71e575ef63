/**
 * Packs packages and apps into one folder, as files that npm installs, and prints the line that installs them: the ones
 * named, with whatever they need of the others; without names, all of them. Build first, which the command does:
 *
 *   npx pnpm pack-all <folder> [package …]        npx pnpm pack-all /tmp/packed rest adapters-postgres
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

const wanted = new Set()
for (const name of names.length === 0 ? byName.keys() : names.map(nameOf)) want(name)

const target = resolve(folder)
mkdirSync(target, { recursive: true })
const filters = [...wanted].flatMap((name) => ['--filter', name])
const args = [join(root, 'node_modules/pnpm/bin/pnpm.mjs'), ...filters, 'pack', '--pack-destination', target]
const packed = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
if (packed.status !== 0) fail(`The packages cannot be packed:\n${packed.stdout}${packed.stderr}`)
console.log(`npm install ${[...wanted].map((name) => join(target, fileOf(byName.get(name)))).join(' ')}`)

/** A package, and what it depends on of ours. What it can do without is asked for by name. */
function want(name) {
  const manifest = byName.get(name)
  if (manifest === undefined) fail(`There is no package ${name}; there are ${[...byName.keys()].join(', ')}.`)
  if (wanted.has(name)) return
  wanted.add(name)
  for (const other of Object.keys(manifest.dependencies ?? {})) if (byName.has(other)) want(other)
}

/** Of a package that is named as its folder is. */
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

/**
 * Runs everything that `pnpm test` runs and every group of `furtherGroups`, or only the groups that are named, in all
 * forms. Needs the build.
 *
 *   npx pnpm test:all        npx pnpm test:all clients smscs
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { furtherGroups } from './test-groups.mjs'

const names = process.argv.slice(2)
const unknown = names.filter((name) => !(name in furtherGroups))
if (unknown.length > 0) {
  console.error(`There is no group ${unknown.join(', ')}; the groups are ${Object.keys(furtherGroups).join(', ')}.`)
  process.exit(2)
}
const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js']
const paths = names.flatMap((name) => furtherGroups[name])
const { status } = spawnSync(process.execPath, [...flags, ...paths], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  stdio: 'inherit',
  env: { ...process.env, TEST_GROUPS: 'all', TEST_EVERY: '1' },
})
process.exit(status ?? 1)

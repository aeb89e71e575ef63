/**
 * Runs everything that `pnpm test` runs and every group of `furtherGroups`, or only the groups that are named, in all
 * forms. Needs the build. The group `providers` checks signatures and requests of carriers over HTTP with the packages
 * and OpenAPI documents that the providers publish. It needs the npm registry.
 *
 *   npx pnpm test:all        npx pnpm test:all clients smscs        npx pnpm test:all providers
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { furtherGroups } from './test-groups.mjs'

const names = process.argv.slice(2)
const providers = 'providers'
const unknown = names.filter((name) => name !== providers && !(name in furtherGroups))
if (unknown.length > 0) {
  console.error(
    `There is no group ${unknown.join(', ')}; the groups are ${[...Object.keys(furtherGroups), providers].join(', ')}.`,
  )
  process.exit(2)
}
const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js']
const paths = names.filter((name) => name !== providers).flatMap((name) => furtherGroups[name])

function run(...words) {
  const { status } = spawnSync(process.execPath, words, {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: 'inherit',
    env: { ...process.env, TEST_GROUPS: 'all', TEST_EVERY: '1' },
  })
  return status ?? 1
}

const statuses = names.length === 0 || paths.length > 0 ? [run(...flags, ...paths)] : []
if (names.length === 0 || names.includes(providers)) {
  statuses.push(run('packages/adapters-http/testing/renew-signatures.mjs', '--check'))
  statuses.push(run('packages/adapters-http/testing/check-requests.mjs'))
}
process.exit(Math.max(...statuses))

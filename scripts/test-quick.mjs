/**
 * Runs the quick tests, which need no database and no build: those related to the differences from a commit (by default
 * the common ancestor with `main`), or all. Runs all if too many are related, because they share one set of modules.
 *
 * npx pnpm test:quick [commit]        npx pnpm test:quick --all
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Number of test files above which running them separately takes longer than running all tests together. */
const filesMax = 40
const [base = 'main'] = process.argv.slice(2)

if (base === '--all') process.exit(all())
const changed = [
  ...git('diff', '--name-only', '--diff-filter=d', '--merge-base', base),
  ...git('ls-files', '--others', '--exclude-standard'),
].filter((path) => /^(?:packages|apps)\/.*\.tsx?$/.test(path))
if (changed.length === 0) {
  console.log(`No source of packages or apps differs from ${base}.`)
  process.exit(0)
}
const listed = jest(['--listTests', '--findRelatedTests', ...changed], ['ignore', 'pipe', 'inherit'])
const related = listed.stdout.split('\n').filter((line) => line.endsWith('.test.ts'))
console.log(`${related.length} quick test files are related to ${changed.length} changed files.`)
if (related.length === 0) process.exit(listed.status ?? 1)
process.exit(related.length > filesMax ? all() : (jest(['--runTestsByPath', ...related]).status ?? 1))

function all() {
  return jest([], 'inherit', { QUICK: 'all' }).status ?? 1
}

function jest(args, stdio = 'inherit', env = {}) {
  const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning']
  const command = [...flags, 'node_modules/jest/bin/jest.js', '--config', 'scripts/jest-quick.mjs', ...args]
  return spawnSync(process.execPath, command, {
    cwd: root,
    stdio,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
}

function git(...args) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) {
    console.error(`git ${args.join(' ')}: ${stderr.trim()}`)
    process.exit(1)
  }
  return stdout.trim().split('\n')
}

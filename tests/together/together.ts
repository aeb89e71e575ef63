import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { alone } from '../../scripts/slow-tests-first.mjs'
import { furtherGroups, groups } from '../../scripts/test-groups.mjs'
import { root } from '../support/process.ts'

interface Register {
  (...args: unknown[]): unknown
  readonly [form: string]: Register | undefined
}
const names = ['describe', 'test', 'it', 'beforeAll', 'beforeEach', 'afterAll', 'afterEach'] as const

/** Runs the test files of a group, each under its name. */
export async function together(group: string): Promise<void> {
  for (const file of filesOf(groups[group] ?? [])) {
    const calls = await callsOf(file)
    describe(file, () => {
      for (const call of calls) call()
    })
  }
}

const apart = [...alone, ...Object.values(furtherGroups).flat()]

const filesOf = (paths: readonly string[]): readonly string[] =>
  paths.flatMap((path) => (path.endsWith('.test.ts') ? [path] : testFilesIn(path)))

const testFilesIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') && !/(?:^|\/)(?:node_modules|dist|dist-testing)\//.test(name))
    .map((name) => `${folder}/${name}`)
    .filter((name) => !apart.includes(name))
    .sort()

/**
 * Loads a file and records the calls with which it registers tests. Returns these calls as functions, to be run later
 * under the name of the file.
 */
async function callsOf(file: string): Promise<readonly (() => unknown)[]> {
  const calls: (() => unknown)[] = []
  let isLoaded = false
  const note = (call: () => unknown): void => {
    if (isLoaded) throw new Error(`${file} registers a test by what it has kept of 'describe' or 'test'`)
    calls.push(call)
  }
  const scope = globalThis as unknown as Record<string, Register>
  const real = Object.fromEntries(names.flatMap((name) => (scope[name] === undefined ? [] : [[name, scope[name]]])))
  for (const [name, register] of Object.entries(real)) scope[name] = noting(register, note)
  try {
    await import(join(root, file))
  } finally {
    Object.assign(scope, real)
    isLoaded = true
  }
  return calls
}

/**
 * Returns a function that records calls of `register`, of its variants such as `test.skip`, and of the functions that
 * `each` returns.
 */
function noting(register: Register, note: (call: () => unknown) => void): Register {
  return new Proxy(register, {
    apply: (_, __, args: unknown[]) => note(() => register(...args)),
    get: (_, key: string) => {
      const form = register[key]
      if (key === 'each') return (...table: unknown[]) => noting(form?.(...table) as Register, note)
      return typeof form === 'function' ? noting(form, note) : form
    },
  })
}

import { furtherGroupOf } from './test-groups.mjs'

/**
 * Runs before each test file. If `TEST_UNTIL` (Unix time in seconds) has passed, skips the tests of a further group and
 * reports the file, so that a run on a slow machine still ends in time.
 */
const until = Number(process.env.TEST_UNTIL ?? Infinity)
const path = globalThis.expect.getState().testPath
const group = furtherGroupOf(path)
if (group !== undefined && Date.now() / 1000 > until) {
  process.stderr.write(`NOT RUN, for lack of time: ${path.slice(process.cwd().length + 1)} of the group ${group}\n`)
  for (const name of ['describe', 'test', 'it']) {
    const { skip } = globalThis[name]
    globalThis[name] = Object.assign(skip, { skip, only: skip })
  }
}

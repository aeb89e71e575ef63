import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from './support/process.ts'

/** Returns the code blocks of a page, in order. */
const blocksOf = (page: string): string[] =>
  Array.from(page.matchAll(/```\w*\n([\s\S]*?)```/g), ([, code = '']) => code)

test('the program of docs/embedding.md has under 30 lines and prints what the page says', async () => {
  const [program = '', printed] = blocksOf(await readFile(join(root, 'docs', 'embedding.md'), 'utf8'))
  expect(program.trimEnd().split('\n').length).toBeLessThan(30)
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: root })
  expect(stdout).toBe(printed)
})

import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeOut } from './standard-output.ts'

test('a written text is complete at once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'out-'))
  const fd = openSync(join(folder, 'log'), 'w')
  expect([writeOut('one\n', fd), writeOut('zwei äöü\n', fd), writeOut('', fd)]).toEqual([true, true, true])
  expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('one\nzwei äöü\n')
  closeSync(fd)
  await rm(folder, { recursive: true })
})

const onLinux = process.platform === 'linux' ? test : test.skip
onLinux('a full disk returns false and throws nothing', () => {
  const fd = openSync('/dev/full', 'w')
  expect([writeOut('one\n', fd), writeOut('two\n', fd)]).toEqual([false, false])
  closeSync(fd)
})

test('a closed descriptor returns false and throws nothing', () => {
  const fd = openSync(process.execPath, 'r')
  closeSync(fd)
  expect(writeOut('one\n', fd)).toBe(false)
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { flushFolder } from './backup-folder.ts'

const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }))

function folderWhere(sync: () => Promise<void>) {
  const folder = { sync, isClosed: false, close: () => Promise.resolve(void (folder.isClosed = true)) }
  return folder
}

test.each(['EISDIR', 'EPERM'])('a platform that cannot open folders (%s) causes no error', async (code) => {
  await expect(flushFolder('/backup', failing(code))).resolves.toBeUndefined()
})

test('a platform that cannot flush folders causes no error, and the folder is closed', async () => {
  const folder = folderWhere(failing('EPERM'))
  await flushFolder('/backup', () => Promise.resolve(folder))
  expect(folder.isClosed).toBe(true)
})

test('an error of the disk is thrown, and the folder is closed', async () => {
  const folder = folderWhere(failing('EIO'))
  await expect(flushFolder('/backup', () => Promise.resolve(folder))).rejects.toMatchObject({ code: 'EIO' })
  expect(folder.isClosed).toBe(true)
})

test('an existing folder is flushed, and a missing one is an error', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-flush-'))
  await flushFolder(folder)
  await rm(folder, { recursive: true })
  await expect(flushFolder(folder)).rejects.toMatchObject({ code: 'ENOENT' })
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { flushFolder } from './backup-folder.ts'

const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }))

function folderWhere(sync: () => Promise<void>) {
  const folder = { sync, isClosed: false, close: () => Promise.resolve(void (folder.isClosed = true)) }
  return folder
}

test.each(['EISDIR', 'EPERM'])('a platform that does not open folders (%s) is let be', async (code) => {
  await expect(flushFolder('/backup', failing(code))).resolves.toBeUndefined()
})

test('one that opens folders and does not flush them is let be, and the folder is closed', async () => {
  const folder = folderWhere(failing('EPERM'))
  await flushFolder('/backup', () => Promise.resolve(folder))
  expect(folder.isClosed).toBe(true)
})

test('a disk that fails is told, and the folder is closed', async () => {
  const folder = folderWhere(failing('EIO'))
  await expect(flushFolder('/backup', () => Promise.resolve(folder))).rejects.toMatchObject({ code: 'EIO' })
  expect(folder.isClosed).toBe(true)
})

test('a folder of this machine is flushed, and one that is gone is told', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-flush-'))
  await flushFolder(folder)
  await rm(folder, { recursive: true })
  await expect(flushFolder(folder)).rejects.toMatchObject({ code: 'ENOENT' })
})

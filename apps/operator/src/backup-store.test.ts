import { createHash } from 'node:crypto'
import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { schemaOfThisVersion } from '@gateway/adapters-postgres'
import { anOperator, noBackups } from '../testing/operate.ts'
import { getBytes, putFile } from './backup-store.ts'

const folder = await mkdtemp(join(tmpdir(), 'gateway-store-'))
const file = join(folder, 'gateway-20261118T080000Z.backup')

/** Head of a complete backup without tables, in the format of this version. */
const begin = { made: '2026-11-18T08:00:00.000Z', columns: {}, migrations: schemaOfThisVersion() }
const head = `-- gateway backup 1 ${JSON.stringify(begin)}\n`
const sha256 = createHash('sha256').update(head).digest('hex')
const whole = gzipSync(`${head}-- end ${JSON.stringify({ rows: {}, ledger: '', sha256 })}\n`)
await writeFile(file, whole)

let answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>
const answered = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  // Some clients disconnect before the answer.
  await Promise.resolve(answer(request, response)).catch(() => undefined)
}
const server = createServer((request, response) => void answered(request, response))
server.on('checkContinue', (request, response) => void answered(request, response))
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const address = `${origin}/backups/today?X-Amz-Signature=secret`
const spoken = `${origin}/backups/today`
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await rm(folder, { recursive: true })
})

/** Stored bodies by path, as in an object store. */
const stored = new Map<string, Buffer>()
const store: typeof answer = async (request, response) => {
  const path = request.url ?? ''
  if (request.method === 'GET') {
    const storedRows = stored.get(path)
    return void response.writeHead(storedRows === undefined ? 404 : 200).end(storedRows)
  }
  response.writeContinue()
  const body = await buffer(request)
  const md5 = createHash('md5').update(body).digest()
  const isWhole =
    request.headers['content-length'] === String(body.length) &&
    request.headers['content-md5'] === md5.toString('base64') &&
    request.headers['transfer-encoding'] === undefined
  if (isWhole) stored.set(path, body)
  response.writeHead(isWhole ? 200 : 400, { ETag: `"${md5.toString('hex')}"` }).end()
}

const operator = () =>
  anOperator({
    backups: {
      ...noBackups,
      create: async (to) => {
        const made = join(to, basename(file))
        await copyFile(file, made)
        return { file: made, bytes: whole.length, rows: 0 }
      },
      restore: async ({ read }) => {
        expect(await buffer(read())).toEqual(whole)
        return { made: '2026-11-18T08:00:00.000Z', rows: 0, firstMessage: 1, accounts: 1, differences: 0 }
      },
    },
  })
const leftovers = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('gateway-transfer-'))

test('a backup is sent with its length and MD5, and can be verified and restored from the store', async () => {
  answer = store
  const before = await leftovers()
  expect(await operator().run(['backup', 'create', '--to', address])).toEqual({
    code: 0,
    out: `${spoken}: 0 rows in 0.0 MiB. The store confirms its MD5.\n`,
    err: '',
  })
  expect(stored.get('/backups/today?X-Amz-Signature=secret')).toEqual(whole)
  expect(await operator().json('backup', 'create', '--to', address)).toMatchObject({ file: spoken })
  expect(await operator().row('backup', 'verify', address)).toMatchObject({ file: spoken, copied: 0 })
  expect(await operator().run(['backup', 'restore', address])).toMatchObject({ code: 0 })
  expect(await leftovers()).toEqual(before)
})

test('a backup can be read from standard input', async () => {
  expect(await operator().run(['backup', 'verify', '-'], whole)).toMatchObject({
    code: 0,
    out: 'Standard input is complete: 0 rows of 0 tables, as of 2026-11-18T08:00:00.000Z.\n',
  })
  expect(await operator().run(['backup', 'restore', '-'], whole)).toMatchObject({ code: 0 })
  const cut = whole.subarray(0, 40)
  for (const verb of ['verify', 'restore'])
    expect(await operator().run(['backup', verb, '-'], cut)).toEqual({
      ...{ code: 1, out: '', err: 'Standard input is cut off.\n' },
    })
})

const denied = '<Error><Code>AccessDenied</Code><Message>Request has expired</Message><Key>secret</Key></Error>'
const refusals: readonly (readonly [title: string, typeof answer, message: string | RegExp])[] = [
  [
    'one that refuses before it has the body',
    (_, response) => void response.writeHead(403, { 'Content-Type': 'application/xml' }).end(denied),
    `${spoken} answered 403 (AccessDenied: Request has expired).`,
  ],
  [
    'one that refuses what arrived',
    async (request, response) => {
      response.writeContinue()
      await buffer(request)
      response.writeHead(400).end('<Error><Code>BadDigest</Code></Error>')
    },
    `${spoken} answered 400 (BadDigest).`,
  ],
  [
    'one that leads elsewhere',
    (_, response) => void response.writeHead(307, { Location: '/elsewhere' }).end(),
    `${spoken} answered 307.`,
  ],
  [
    'one that cuts the connection',
    (request) => void request.socket.destroy(),
    /^http:.*\/backups\/today cannot be used: the connection was cut\.$/,
  ],
]
test.each(refusals)(
  '%s is reported without the secret in the address, without leftovers',
  async (_, how, expectedText) => {
    answer = how
    const before = await leftovers()
    const { code, out, err } = await operator().run(['backup', 'create', '--to', address])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err.trim()).toEqual(typeof expectedText === 'string' ? expectedText : expect.stringMatching(expectedText))
    expect(await leftovers()).toEqual(before)
  },
)

test('a connection that breaks within a body is reported, in both directions', async () => {
  const large = join(folder, 'large')
  await writeFile(large, Buffer.alloc(2 ** 22))
  answer = (request, response) => {
    response.writeContinue()
    request.once('data', () => request.socket.destroy())
  }
  const { signal } = new AbortController()
  await expect(putFile(large, new URL(address), { signal })).rejects.toThrow(`${spoken} cannot be used`)
  answer = (_, response) => {
    response.writeHead(200, { 'Content-Length': whole.length })
    response.write(whole.subarray(0, 40), () => response.destroy())
  }
  for (const verb of ['verify', 'restore'])
    expect(await operator().run(['backup', verb, address])).toEqual({
      ...{ code: 1, out: '', err: `${spoken} cannot be used: the connection was cut.\n` },
    })
})

test('a slow store is waited for while data moves, and given up when nothing does', async () => {
  const large = join(folder, 'slow')
  await writeFile(large, Buffer.alloc(24 * 2 ** 20))
  answer = async (request, response) => {
    response.writeContinue()
    let bytes = 0
    // The whole transfer takes longer than the maximum pause, but no single pause does.
    for await (const piece of request) {
      bytes += (piece as Buffer).length
      if (bytes < 2 ** 20) continue
      bytes = 0
      await pause(60)
    }
    response.writeHead(200).end()
  }
  const { signal } = new AbortController()
  expect(await putFile(large, new URL(address), { signal, idleMilliseconds: 1000 })).toEqual({ isConfirmed: false })
  const options = { signal, idleMilliseconds: 300 }
  answer = (_, response) => {
    response.writeContinue()
  }
  await expect(putFile(large, new URL(address), options)).rejects.toThrow(
    `${spoken} cannot be used: no data was transferred for`,
  )
  answer = () => undefined
  await expect(text(getBytes(new URL(address), options))).rejects.toThrow('no data was transferred for')
})

test('an interruption by the user ends the transfer', async () => {
  const ending = new AbortController()
  answer = () => ending.abort()
  await expect(putFile(file, new URL(address), { signal: ending.signal })).rejects.toThrow('aborted')
})

test('another scheme is refused in a sentence, before a database is opened', async () => {
  const expectedText =
    'The place of a backup is a folder, - (standard input or output), or an http:// or https:// URL ' +
    '(such as a presigned URL of an object store), not s3://.\n'
  expect(await operator().run(['backup', 'create', '--to', 's3://bucket/x'])).toEqual({
    code: 2,
    out: '',
    err: expectedText,
  })
  expect(await operator().run(['backup', 'verify', 'ftp://host/x'])).toMatchObject({ code: 2 })
})

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cuttingProxy } from '../testing/cutting-proxy.ts'
import { freshDatabase } from '../testing/fresh-database.ts'
import { renamingProxy } from '../testing/renaming-proxy.ts'
import { postgresPorts } from './postgres-ports.ts'
import { refuseChangingBackends } from './refuse-pooler.ts'
import { serverAddress } from './server-address.ts'

const refusal = 'through a pooler (PgBouncer or the like)'

async function checked(connectionString: string): Promise<void> {
  const { checkServer, close } = postgresPorts({ connectionString })
  try {
    await checkServer()
  } finally {
    await close(1)
  }
}

test('a server that announces another process than the one that answers is refused, at the start and on each connection', async () => {
  const database = await freshDatabase()
  const proxy = await renamingProxy(database.connectionString)
  const { ping, close } = postgresPorts({ connectionString: proxy.connectionString })
  try {
    await expect(checked(proxy.connectionString)).rejects.toThrow(refusal)
    await expect(ping()).rejects.toThrow(refusal)
  } finally {
    await close(1)
    await proxy.close()
    await database.drop()
  }
})

test.each(['', '?sslmode=disable', '?sslmode=allow', '?sslmode=prefer', '?sslmode=require'])(
  'a server with %j that accepts and closes connections causes an error that says so, within bounded time',
  async (query) => {
    for (const close of [
      (socket: Socket) => socket.end(),
      (socket: Socket) => socket.once('data', () => socket.end()),
    ]) {
      // The socket is read, because otherwise it would not notice that the client has gone, and would stay open.
      const accept = (socket: Socket) => void close(socket.on('error', () => undefined).resume())
      const closing = createServer(accept).listen(0, '127.0.0.1')
      await once(closing, 'listening')
      const { port } = closing.address() as AddressInfo
      const url = `postgres://me@127.0.0.1:${port}/none${query}`
      await expect(checked(url)).rejects.toThrow('the database cannot be reached: Connection terminated unexpectedly')
      await new Promise((resolve) => closing.close(resolve))
    }
  },
  30_000,
)

test('a direct connection to a server is not refused', async () => {
  const database = await freshDatabase()
  await expect(refuseChangingBackends(serverAddress(database.connectionString))).resolves.toBeUndefined()
  await database.drop()
})

const pgbouncer = await promisify(execFile)('pgbouncer', ['--version'], {
  env: { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` },
}).then(
  () => true,
  () => false,
)
if (!pgbouncer) console.warn('skipped: PgBouncer is not installed')

;(pgbouncer ? test : test.skip).each(['transaction', 'statement', 'session'])(
  'PgBouncer is refused in %s mode',
  async (mode) => {
    const database = await freshDatabase()
    // The server's socket admits only this process; the pooler may run as another user.
    const relay = await cuttingProxy(database.connectionString)
    const { port: relayPort } = new URL(relay.connectionString)
    const folder = await mkdtemp(join(tmpdir(), 'gateway-pgbouncer-'))
    const port = await freePort()
    const root = process.getuid?.() === 0
    const file = join(folder, 'pgbouncer.ini')
    await writeFile(
      file,
      `[databases]
gateway = host=127.0.0.1 port=${relayPort} dbname=gateway user=gateway
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 4
ignore_startup_parameters = options, extra_float_digits
`,
    )
    await chmod(folder, 0o755)
    // PgBouncer refuses to run as root.
    if (root) await chown(folder, 65534, 65534)
    const pooler = spawn('pgbouncer', [file], {
      stdio: 'ignore',
      env: { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` },
      ...(root && { uid: 65534, gid: 65534 }),
    })
    try {
      await listening(port)
      await expect(checked(`postgres://gateway@127.0.0.1:${port}/gateway`)).rejects.toThrow(
        mode === 'statement' ? /pooler|transaction/i : refusal,
      )
    } finally {
      const ended = once(pooler, 'exit')
      pooler.kill('SIGKILL')
      await ended
      await relay.close()
      await rm(folder, { recursive: true, force: true })
      await database.drop()
    }
  },
)

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function listening(port: number): Promise<void> {
  const end = performance.now() + 10_000
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return
    } catch (error) {
      if (performance.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    } finally {
      socket.destroy()
    }
  }
}

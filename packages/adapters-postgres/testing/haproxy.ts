import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { connect, createServer as createNet, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from '@gateway/core/testing'
import type { LoneServer } from './two-servers.ts'

const path = `${process.env['PATH'] ?? ''}:/usr/sbin`

export const canRunHaproxy = (): boolean =>
  spawnSync('haproxy', ['-v'], { env: { PATH: path } }).error === undefined && process.platform === 'linux'

export interface PrimaryByName {
  /** URL with one name that always leads to the current primary. */
  readonly connectionString: string
  close(): Promise<void>
}

/**
 * Starts HAProxy with the configuration of deploy/patroni in front of servers with addresses of their own. A local
 * server answers `GET /primary` in place of Patroni's REST API, from the state of each database server.
 */
export async function primaryByHaproxy(servers: readonly LoneServer[]): Promise<PrimaryByName> {
  const apis = await Promise.all(servers.map(patroniOf))
  const port = await freePort()
  let text = readFileSync(fileURLToPath(new URL('../../../deploy/patroni/haproxy.cfg', import.meta.url)), 'utf8')
  text = text.replace('bind 127.0.0.1:5432', `bind 127.0.0.1:${port}`)
  for (const [at, name] of ['A', 'B'].entries()) text = text.replaceAll(`ADDRESS-${name}`, servers[at]?.host ?? '')
  // No server listens at this address.
  text = text.replaceAll('ADDRESS-C', '127.0.0.1')
  const file = join(tmpdir(), `gateway-haproxy-${process.pid}-${port}.cfg`)
  await writeFile(file, text)
  const proxy = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore', env: { PATH: path } })
  const ended = once(proxy, 'exit')
  const close = async () => {
    proxy.kill('SIGKILL')
    await ended
    for (const api of apis) api.closeAllConnections()
    await Promise.all(apis.map((api) => new Promise((resolve) => api.close(resolve))))
    await rm(file)
  }
  try {
    await until(() => isListening(port))
  } catch (error) {
    await close()
    throw error
  }
  return {
    connectionString: `postgres://gateway@localhost:${port}/gateway?sslmode=disable&target_session_attrs=read-write`,
    close,
  }
}

async function patroniOf(server: LoneServer): Promise<Server> {
  const api = createServer((_, response) => {
    const reading = server.query<{ standby: boolean }>('select pg_is_in_recovery() standby')
    const isPrimary = reading.then(
      ([row]) => row?.standby === false,
      () => false,
    )
    void isPrimary.then((is) => response.writeHead(is ? 200 : 503).end())
  })
  await new Promise<void>((resolve) => api.listen(8008, server.host, resolve))
  return api
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    }).on('error', () => resolve(false))
  })

async function freePort(): Promise<number> {
  const server = createNet()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

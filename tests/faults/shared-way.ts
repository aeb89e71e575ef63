import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/**
 * One address that several processes have in the URL of their carrier. A connection of each process leads to its own
 * relay.
 */
export interface SharedWay {
  readonly port: number
  /** Connects this member to this port of 127.0.0.1 from now on. */
  lead(member: string, to: number): void
  close(): Promise<void>
}

/**
 * system_type that all members are configured with. The shared way replaces it by the name of the member, which has the
 * same length.
 */
export const anyMember = 'dispatcher-x'

/**
 * Opens the address. `pidOf` returns the process of a member while it runs. Needs Linux, whose /proc shows the owner of
 * a connection.
 */
export async function openSharedWay(pidOf: (member: string) => number | undefined): Promise<SharedWay> {
  const ports = new Map<string, number>()
  const open = new Set<Socket>()

  function lead(client: Socket, member: string, to: number): void {
    const upstream = connect({ host: '127.0.0.1', port: to })
    open.add(client).add(upstream)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.setNoDelay(true)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        open.delete(socket)
        other.destroySoon()
      })
    }
    let isNamed = false
    client.on('data', (data) => {
      const at = isNamed ? -1 : data.indexOf(anyMember)
      if (at >= 0) data.write(member, at, 'latin1')
      isNamed ||= at >= 0
      if (!upstream.write(data)) client.pause()
    })
    upstream.on('drain', () => client.resume())
    upstream.pipe(client)
  }

  const server = createServer((client) => {
    const inode = inodeOf(client)
    const member = [...ports.keys()].find((name) => isOpenIn(pidOf(name), inode))
    const to = member === undefined ? undefined : ports.get(member)
    if (member === undefined || to === undefined) client.destroy()
    else lead(client, member, to)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    lead: (member, to) => void ports.set(member, to),
    close: async () => {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const hex = (port = 0): string => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`

/** Returns the inode of the other end, which is on this machine. */
function inodeOf({ remotePort, localPort }: Socket): string | undefined {
  const lines = readFileSync('/proc/net/tcp', 'latin1').split('\n')
  const fields = lines.map((line) => line.trim().split(/\s+/))
  return fields.find(([, from, to]) => from === hex(remotePort) && to === hex(localPort))?.[9]
}

function isOpenIn(pid: number | undefined, inode: string | undefined): boolean {
  if (pid === undefined || inode === undefined) return false
  const folder = `/proc/${pid}/fd`
  try {
    return readdirSync(folder).some((name) => linkOf(`${folder}/${name}`) === `socket:[${inode}]`)
  } catch {
    return false
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

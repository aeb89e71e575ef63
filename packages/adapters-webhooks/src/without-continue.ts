import type { Socket } from 'node:net'

const beginning = Buffer.from('HTTP/1.1 100 ')
const headEnd = '\r\n\r\n'
/** A longer one is left to the parser, which refuses it. */
const headBytesMax = 16 * 1024

/**
 * The socket, from which interim answers `100 Continue` are not read: some receivers give them unasked, which a client has to pass over (RFC 9110,
 * 15.2), and undici ends the connection for one. Undici reads by `read()`, and writes a request before its answer comes.
 */
export function withoutContinue(socket: Socket): Socket {
  const [read, write] = [socket.read.bind(socket), socket.write.bind(socket)]
  let isAwaited = true
  let kept: Buffer = Buffer.alloc(0)

  /** What is not of such an answer; none: what is there may be the beginning of one. */
  function rest(): Buffer | undefined {
    while (kept.subarray(0, beginning.length).equals(beginning)) {
      const end = kept.indexOf(headEnd)
      if (end === -1 || end > headBytesMax) return kept.length > headBytesMax ? kept : undefined
      kept = kept.subarray(end + headEnd.length)
    }
    return beginning.subarray(0, kept.length).equals(kept) ? undefined : kept
  }

  socket.read = (size?: number): unknown => {
    for (;;) {
      const chunk = read(size) as Buffer | null
      if (chunk === null || !isAwaited) return chunk
      kept = kept.length === 0 ? chunk : Buffer.concat([kept, chunk])
      const found = rest()
      if (found === undefined) continue
      isAwaited = false
      kept = Buffer.alloc(0)
      return found
    }
  }
  socket.write = ((...args: Parameters<Socket['write']>) => {
    isAwaited = true
    return write(...args)
  }) as Socket['write']
  return socket
}

import type { Server } from 'node:http'

/** However many connections keep coming, so long is looked for more of them, milliseconds. */
const LOOK_MS = 500

/**
 * Resolves when the server has accepted every connection that waited for it and read what had come over it by then: to close without
 * would reset requests that were sent before, whose clients could not tell what became of them. At most half a second.
 */
export async function arrivalsRead(server: Server): Promise<void> {
  let accepted = 0
  const count = () => accepted++
  server.on('connection', count)
  const deadline = performance.now() + LOOK_MS
  let before: number
  do {
    before = accepted
    // The first may end in the turn that runs; between it and the second the event loop has looked at every socket.
    await turn()
    await turn()
  } while (accepted !== before && performance.now() < deadline)
  server.off('connection', count)
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

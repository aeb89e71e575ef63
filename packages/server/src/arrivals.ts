import type { Server } from 'node:http'

/** So many connections wait in the kernel until they are accepted; one more is let in (Linux). */
export const backlog = 511

/**
 * Resolves when the server has accepted every connection that waited for it: to close without would reset requests that were sent
 * before, whose clients could not tell what became of them. Of more that keep coming it accepts as many as can have waited before.
 * Waits for at most `milliseconds`, and one look at all sockets.
 */
export async function arrivalsAccepted(server: Server, milliseconds: number): Promise<void> {
  let accepted = 0
  const count = () => accepted++
  server.on('connection', count)
  const deadline = performance.now() + milliseconds
  let before: number
  do {
    before = accepted
    // The event loop accepts one connection a turn (libuv 1.46, Node 20).
    await everySocketSeen()
  } while (accepted !== before && accepted <= backlog && performance.now() < deadline)
  server.off('connection', count)
}

/** Resolves when the event loop has looked at every socket, however long that takes. */
export async function everySocketSeen(): Promise<void> {
  // The first may end in the turn that runs; between it and the second the event loop has looked at every socket.
  await turn()
  await turn()
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

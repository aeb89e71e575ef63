import type { Server } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** So many connections wait in the kernel until they are accepted; one more is let in (Linux). */
export const backlog = 511

/**
 * Resolves when the server has accepted every connection that waited for it: to close without would reset requests that
 * were sent before, whose clients could not tell what became of them. Of more that keep coming it accepts as many as
 * can have waited before. Waits for at most `milliseconds`, and one look at all sockets.
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
  await nextTurn()
  await nextTurn()
}

/** Of each turn of the event loop it takes so much. */
const sliceMilliseconds = 2

/**
 * What `make` gives for each, in their order. Others have their turn of the event loop after every two milliseconds.
 */
export async function inSlices<Item, Made>(
  items: Iterable<Item>,
  make: (item: Item) => Made,
): Promise<readonly Made[]> {
  const all: Made[] = []
  let begun = performance.now()
  for (const item of items) {
    if (performance.now() - begun >= sliceMilliseconds) {
      await nextTurn()
      begun = performance.now()
    }
    all.push(make(item))
  }
  return all
}

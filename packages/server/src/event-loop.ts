import type { Server } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Maximum number of connections that wait in the kernel to be accepted; Linux lets one more in. */
export const backlog = 511

/**
 * Resolves when the server has accepted every connection that was waiting. Without this, closing the server would reset
 * requests that were already sent, and their clients could not know the outcome. Stops when more connections were
 * accepted than can have waited at the call, or after `milliseconds` plus one pass over all sockets.
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

/** Resolves when the event loop has polled every socket, however long that takes. */
export async function everySocketSeen(): Promise<void> {
  // The first wait may end within the current turn. The event loop polls every socket between the first and the second
  // wait.
  await nextTurn()
  await nextTurn()
}

/** Maximum milliseconds for which `inSlices` runs in one turn of the event loop. */
const sliceMilliseconds = 2

/**
 * Returns the result of `make` for each item, in order. Yields to the event loop after every two milliseconds.
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

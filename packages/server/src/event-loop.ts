import type { Server } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Maximum number of connections that wait in the kernel to be accepted; Linux lets one more in. */
export const backlog = 511

/**
 * Resolves when the server has accepted every connection that was waiting. Closing earlier would reset requests that
 * were already sent, whose clients could not know their outcome. Accepts at most as many connections as can have waited
 * before. Takes at most `milliseconds` and one look at all sockets.
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
  // The first wait may end in the current turn. Between it and the second one the event loop looks at every socket.
  await nextTurn()
  await nextTurn()
}

/** Maximum time of `inSlices` in one turn of the event loop, in milliseconds. */
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

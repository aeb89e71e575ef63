import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Emits `close` for a response that waited behind another one when its connection closed; Node (seen on 20.20) does not, and what is
 * released on `close` would leak. Call it for each new response; calling it again is harmless.
 */
export const closeQueued = (response: ServerResponse): void => {
  if (response.socket !== null) return
  const { socket } = response.req
  const queue = waiting.get(socket) ?? watch(socket)
  if (queue.has(response)) return
  queue.add(response)
  response.once('close', () => queue.delete(response))
  // The connection closed before this call.
  if (socket.destroyed) setImmediate(() => closeAll(queue))
}

const waiting = new WeakMap<Socket, Set<ServerResponse>>()

const watch = (socket: Socket): Set<ServerResponse> => {
  const queue = new Set<ServerResponse>()
  waiting.set(socket, queue)
  // After Node's own listeners, which close the response that does not wait.
  socket.once('close', () => setImmediate(() => closeAll(queue)))
  return queue
}

const closeAll = (queue: ReadonlySet<ServerResponse>) => {
  for (const response of queue) {
    if (response.closed) continue
    response.destroy()
    response.emit('close')
  }
}

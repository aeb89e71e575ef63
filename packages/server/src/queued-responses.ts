import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Makes `close` of a response true for pipelined requests too. Node (seen on 20.20) never emits it for a response that
 * still waited behind another one when its connection broke, so whoever gives back a place on `close` would lose one each
 * time. To be called with each new response, once or more; it costs nothing for one that does not wait.
 */
export const closeQueued = (response: ServerResponse): void => {
  if (response.socket !== null) return
  const { socket } = response.req
  const queue = waiting.get(socket) ?? watch(socket)
  if (queue.has(response)) return
  queue.add(response)
  response.once('close', () => queue.delete(response))
  // It came to us too late to hear of it.
  if (socket.destroyed) setImmediate(() => closeAll(queue))
}

const waiting = new WeakMap<Socket, Set<ServerResponse>>()

const watch = (socket: Socket): Set<ServerResponse> => {
  const queue = new Set<ServerResponse>()
  waiting.set(socket, queue)
  // Later than node's own listeners, which close the response that does not wait.
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

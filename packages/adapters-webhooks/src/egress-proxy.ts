import { request as requestPlain, type RequestOptions } from 'node:http'
import { request as requestSecure } from 'node:https'
import type { Socket } from 'node:net'
import { PushProblem } from './push-problem.ts'

export interface EgressProxy {
  /** `http://` or `https://`, with user and password if the proxy asks for them. */
  readonly url: string
  /** The proxy gets names and checks their addresses itself. Otherwise it gets addresses that were checked here. */
  readonly resolvesNames: boolean
}

/** A connection through a proxy by CONNECT, also for plain http. Throws a PushProblem if the proxy does not give one. */
export const connectByProxy = (
  { url }: Pick<EgressProxy, 'url'>,
  host: string,
  port: number,
  signal: AbortSignal,
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const refuse = (cause?: unknown): void => reject(new PushProblem('connection-failed', cause))
    const proxy = new URL(url)
    const request = (proxy.protocol === 'https:' ? requestSecure : requestPlain)(
      connectRequest(proxy, host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`, signal),
    )
    request.on('error', refuse)
    request.on('response', (response) => {
      response.destroy()
      refuse()
    })
    request.on('connect', ({ statusCode = 0 }, socket: Socket, head) => {
      if (statusCode >= 200 && statusCode <= 299 && head.length === 0) resolve(socket)
      else {
        socket.destroy()
        refuse()
      }
    })
    request.end()
  })

function connectRequest({ hostname, port, username, password }: URL, to: string, signal: AbortSignal): RequestOptions {
  const user = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
  return {
    method: 'CONNECT',
    host: hostname.replace(/^\[|\]$/g, ''),
    ...(port !== '' && { port }),
    path: to,
    headers: { host: to, ...(username !== '' && { 'proxy-authorization': `Basic ${user}` }) },
    agent: false,
    signal,
  }
}

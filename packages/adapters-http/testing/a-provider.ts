import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** Request as the provider received it. */
export interface ReceivedRequest {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly socket: Socket
}

/** Function that answers the nth request, counted from 1, after the whole request has been received. */
export type Answer = (response: ServerResponse, request: ReceivedRequest, nth: number) => void

/** Real HTTP server in place of a provider. */
export interface TestProvider {
  readonly origin: string
  readonly requests: readonly ReceivedRequest[]
  answerWith(answer: Answer): void
  close(): void
}

/**
 * Starts a server that answers with `first` until a test sets another function by `answerWith`. By default `first`
 * accepts each message with a new id.
 */
export async function aProvider(first: Answer = accepts): Promise<TestProvider> {
  let answer = first
  const requests: ReceivedRequest[] = []
  const server: Server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const received = { url: request.url ?? '', headers: request.headers, body, socket: request.socket }
      answer(response, received, requests.push(received))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answerWith: (next) => void (answer = next),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

export const accepts: Answer = (response, _, nth) => response.writeHead(201).end(JSON.stringify([{ id: `r${nth}` }]))

/** Accepts each message after some time. */
export const acceptsAfter =
  (milliseconds: number): Answer =>
  (response, request, nth) =>
    void setTimeout(() => accepts(response, request, nth), milliseconds)

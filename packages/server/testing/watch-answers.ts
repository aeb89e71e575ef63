import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'

type Writer = (...args: unknown[]) => unknown
type Look = (request: IncomingMessage, response: ServerResponse, body: string) => void

/** Reports every answer of every server of this process when it ends, until the returned function is called. */
export function watchAnswers(look: Look): () => void {
  const watch = (message: unknown): void => {
    const { request, response } = message as { readonly request: IncomingMessage; readonly response: ServerResponse }
    const write = response.write.bind(response) as Writer
    const end = response.end.bind(response) as unknown as Writer
    let body = ''
    Object.assign(response, {
      write: (...args: unknown[]) => {
        body += textOf(args[0])
        return write(...args)
      },
      end: (...args: unknown[]) => {
        body += textOf(args[0])
        look(request, response, body)
        return end(...args)
      },
    })
  }
  subscribe('http.server.request.start', watch)
  return () => unsubscribe('http.server.request.start', watch)
}

const textOf = (chunk: unknown): string =>
  typeof chunk === 'string' || chunk instanceof Uint8Array ? Buffer.from(chunk as string).toString() : ''

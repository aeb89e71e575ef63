import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface JsonServer {
  readonly port: number
  close(): Promise<void>
}

export type JsonAnswer = readonly [status: number, body: unknown]

const bodyMax = 1 << 20

/**
 * Serves JSON over HTTP on 127.0.0.1. A rejected answer becomes 400 with its message. Refuses requests that a browser
 * could send on behalf of a page of another origin.
 */
export async function serveJson(
  port: number,
  answer: (request: IncomingMessage, url: URL) => Promise<JsonAnswer>,
): Promise<JsonServer> {
  const server = createServer((request, response) => void serve(answer, request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

async function serve(
  answer: (request: IncomingMessage, url: URL) => Promise<JsonAnswer>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [status, body] = await answered(answer, request).catch((error: unknown): JsonAnswer => [
    400,
    { error: error instanceof Error ? error.message : String(error) },
  ])
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(`${JSON.stringify(body)}\n`)
}

async function answered(
  answer: (request: IncomingMessage, url: URL) => Promise<JsonAnswer>,
  request: IncomingMessage,
): Promise<JsonAnswer> {
  if (!/^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(request.headers.host ?? '')) return [403, { error: 'wrong host' }]
  return answer(request, new URL(request.url ?? '/', 'http://127.0.0.1'))
}

/** Returns the number of entries that a query asks for: 100 by default, at most 100 000. */
export const latestOf = (text: string | null): number => Math.min(100_000, Math.max(1, Number(text ?? 100) || 100))

/** Reads a body of JSON. Rejects if it is not an object or too long. */
export async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) throw new Error('Send application/json.')
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > bodyMax) throw new Error('The body is too long.')
    chunks.push(chunk)
  }
  const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('The request body must be a JSON object.')
  return value as Record<string, unknown>
}

export function textOf(field: string, value: unknown): string {
  if (typeof value !== 'string') throw new Error(`${field} must be a text.`)
  return value
}

import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { AnswerForm } from './outcomes.ts'
import type { ProviderAnswer } from './providers/provider.ts'

const page = '<!DOCTYPE html><html><head><title>Welcome</title></head><body>Welcome to this network</body></html>'
/** Bytes of each chunk of a chunked answer, and the time between two chunks in milliseconds. */
const chunkBytes = 16
const chunkPause = 5

/** Writes the response, after the delay and in the malformation that `form` names. */
export function writeAnswer(response: ServerResponse, form: AnswerForm, answer: ProviderAnswer): void {
  switch (form) {
    case 'ordinary':
    case 'slow':
      end(response, answer)
      return
    case 'gzip':
      end(response, { ...answer, headers: { ...answer.headers, 'content-encoding': 'gzip' } }, gzipSync(answer.body))
      return
    case 'chunked':
      void endInChunks(response, answer)
      return
    case 'none':
      return
    case 'server-error':
      end(response, { status: 503, headers: { 'content-type': 'text/plain' }, body: 'upstream connect error' })
      return
    case 'page':
      end(response, { status: 200, headers: { 'content-type': 'text/html' }, body: page })
      return
    case 'without-id':
      end(response, { status: answer.status, headers: { 'content-type': 'application/json' }, body: '{"ok":true}' })
      return
    case 'reset':
      response.socket?.resetAndDestroy()
      return
    case 'cut':
      cut(response, answer)
      return
    case 'then-reset': {
      const { socket } = response
      // The answer must arrive before the reset, because a reset discards bytes that are still on their way.
      response.on('finish', () => void setTimeout(() => socket?.resetAndDestroy(), 20).unref())
      end(response, answer)
    }
  }
}

function end(response: ServerResponse, { status, headers, body }: ProviderAnswer, bytes: Buffer | string = body): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(bytes) })
  response.end(bytes)
}

async function endInChunks(response: ServerResponse, { status, headers, body }: ProviderAnswer): Promise<void> {
  response.writeHead(status, { ...headers })
  const bytes = Buffer.from(body)
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    response.write(bytes.subarray(at, at + chunkBytes))
    await delay(chunkPause)
  }
  response.end()
}

/** Writes the first half of an answer and resets the connection. */
function cut(response: ServerResponse, { status, headers, body }: ProviderAnswer): void {
  const { socket } = response
  const bytes = Buffer.from(body)
  response.writeHead(status, { ...headers, 'content-length': bytes.length })
  response.write(
    bytes.subarray(0, bytes.length >> 1),
    () => void setTimeout(() => socket?.resetAndDestroy(), 20).unref(),
  )
}

import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { ProviderCallback } from './providers/provider.ts'

/** Sends callbacks, each repeatedly until it is answered. */
export interface CallbackSender {
  /**
   * Sends a callback and resolves to the status of its answer if that is 2xx or 4xx. After any other answer, or without
   * an answer within ten seconds, sends the callback again. `make` makes the callback of each try. Never resolves after
   * `close`.
   */
  send(make: () => ProviderCallback): Promise<number>
  /** Returns the number of callbacks without a final answer. */
  waiting(): number
  /** Returns the number of answers by status, with `none` for tries without an answer. */
  answers(): Readonly<Record<string, number>>
  close(): void
}

const answerMilliseconds = 10_000

export function callbackSender(window: number, retryDelay: () => number): CallbackSender {
  const settings = { keepAlive: true, maxSockets: window, scheduling: 'fifo' } as const
  const agents = { http: new HttpAgent(settings), https: new HttpsAgent(settings) }
  const answers: Record<string, number> = {}
  let waiting = 0
  let isClosed = false

  function attempt(make: () => ProviderCallback, settle: (status: number) => void): void {
    if (isClosed) return
    void exchange(make(), agents).then((status) => {
      answers[status ?? 'none'] = (answers[status ?? 'none'] ?? 0) + 1
      const isFinal = status !== undefined && (Math.floor(status / 100) === 2 || Math.floor(status / 100) === 4)
      if (isFinal) settle(status)
      else setTimeout(() => attempt(make, settle), retryDelay()).unref()
    })
  }

  return {
    send: (make) => {
      waiting++
      return new Promise((resolve) =>
        attempt(make, (status) => {
          waiting--
          resolve(status)
        }),
      )
    },
    waiting: () => waiting,
    answers: () => ({ ...answers }),
    close: () => {
      isClosed = true
      agents.http.destroy()
      agents.https.destroy()
    },
  }
}

/** Sends a callback once. Resolves to the status, or to undefined if no whole answer arrives. Never rejects. */
function exchange(
  { method, url, headers, body }: ProviderCallback,
  agents: { readonly http: HttpAgent; readonly https: HttpsAgent },
): Promise<number | undefined> {
  return new Promise((resolve) => {
    // User and password of the URL become the header of basic authentication.
    const options = {
      method,
      timeout: answerMilliseconds,
      headers: { ...headers, ...(method === 'POST' && { 'content-length': Buffer.byteLength(body) }) },
    }
    const isTls = url.startsWith('https:')
    const request = isTls
      ? httpsRequest(url, { ...options, agent: agents.https })
      : httpRequest(url, { ...options, agent: agents.http })
    request.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode))
      response.on('error', () => resolve(undefined))
    })
    request.on('error', () => resolve(undefined))
    request.on('timeout', () => request.destroy(new Error('no answer in time')))
    request.end(method === 'POST' ? body : undefined)
  })
}

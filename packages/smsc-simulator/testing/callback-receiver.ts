import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CallbackRequest } from '@gateway/adapters-http'
import { until } from '@gateway/core/testing'

/** Server that records callbacks. */
export interface CallbackReceiver {
  readonly url: string
  readonly received: readonly CallbackRequest[]
  /** Answers the next callbacks with these statuses, and all others with 200. */
  answerNext(...statuses: readonly number[]): void
  /** Resolves to all callbacks once there are this many. */
  count(least: number): Promise<readonly CallbackRequest[]>
  close(): void
}

export async function callbackReceiver(): Promise<CallbackReceiver> {
  const received: CallbackRequest[] = []
  const statuses: number[] = []
  let origin = ''
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      received.push({
        method,
        url: origin + url,
        headers: Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : undefined]),
        ),
        body: Buffer.concat(chunks),
      })
      response.writeHead(statuses.shift() ?? 200).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `${origin}/carriers/main/callback`,
    received,
    answerNext: (...next) => void statuses.push(...next),
    count: async (least) => {
      await until(() => received.length >= least)
      return received
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

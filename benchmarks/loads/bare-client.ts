import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'

export interface BareClient {
  /** Scheme, host and port of a provider with the API of Twilio. */
  readonly url: string
  readonly messages: number
  /** Maximum number of requests without an answer, each on a connection of its own. */
  readonly window: number
}

const authorization = `Basic ${Buffer.from('AC1:token').toString('base64')}`

/**
 * Sends messages with undici alone, and answers their receipts with 204 without reading them. Stores nothing. Resolves
 * when every message is accepted and every receipt is answered.
 */
export async function runBareClient({ url, messages, window }: BareClient) {
  let receipts = 0
  let allReceived = (): void => undefined
  const received = new Promise<void>((resolve) => (allReceived = resolve))
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      response.writeHead(204).end()
      if (++receipts === messages) allReceived()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const callback = `http://127.0.0.1:${(server.address() as AddressInfo).port}/carriers/main/callback`
  const pool = new Pool(url, { connections: window, pipelining: 1 })
  const start = performance.now()
  let sent = 0
  async function sendOn(): Promise<void> {
    while (sent < messages) {
      const to = `+2782${String(sent++).padStart(6, '0')}0`
      const fields = { To: to, From: '+15005550006', Body: 'Your parcel is here', StatusCallback: callback }
      const { statusCode, body } = await pool.request({
        path: '/2010-04-01/Accounts/AC1/Messages.json',
        method: 'POST',
        headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(fields).toString(),
      })
      const { sid } = (await body.json()) as { readonly sid?: string }
      if (statusCode !== 201 || sid === undefined) throw new Error(`answered ${statusCode}`)
    }
  }
  await Promise.all([...Array.from({ length: window }, sendOn), received])
  const seconds = (performance.now() - start) / 1000
  await pool.close()
  server.closeAllConnections()
  server.close()
  return { messages, seconds }
}

import type { PushRequest } from '@gateway/core/webhooks'
import { webhookClient } from '../../packages/adapters-webhooks/src/index.ts'

export interface DirectPushes {
  readonly url: string
  /** Bodies, pushed in turn, each signed again. */
  readonly bodies: readonly string[]
  readonly requests: number
  /** Maximum number of concurrent requests. */
  readonly inFlight: number
}

const secrets = [`whsec_${Buffer.alloc(32, 'benchmark').toString('base64')}`]

/** Pushes with only the HTTP client of the gateway. Throws if an answer is not 200. */
export async function runDirectPushes({ url, bodies, requests, inFlight }: DirectPushes) {
  const client = webhookClient({ http: true, allow: ['127.0.0.0/8'] })
  let begun = 0
  async function pushOn(): Promise<void> {
    while (begun < requests) {
      const at = begun++
      const request: PushRequest = {
        url,
        id: `list-${at}`,
        timestamp: Math.floor(Date.now() / 1000),
        body: bodies[at % bodies.length] ?? '',
        secrets,
      }
      const answer = await client.push(request)
      if (answer.outcome === 'failed' || answer.status !== 200) throw new Error(`answered ${JSON.stringify(answer)}`)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, pushOn))
  await client.close(Promise.resolve())
  return { requests }
}

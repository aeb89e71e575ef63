import { credits, type ClientRequest, type ClientRequests, type FirstAnswer } from '@gateway/core'
import type { Context } from '../context.ts'
import { digest } from '../digest.ts'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import { findFirstAnswer, keepFirstAnswer } from '../sql/client-requests.ts'

export function postgresClientRequests({ pools: { hot } }: Context): ClientRequests {
  async function find({ account, key, asked }: ClientRequest): Promise<FirstAnswer | 'another-request' | undefined> {
    const [kept] = await retryOnConnectionLoss(hot, findFirstAnswer, [account, key, digest(asked)])
    if (kept === undefined) return undefined
    const { same, answer: text, balance } = kept
    return same ? { text, balance: balance === null ? undefined : credits(balance) } : 'another-request'
  }

  async function keep(request: ClientRequest, answer: FirstAnswer): Promise<FirstAnswer | 'another-request'> {
    const { account, key, asked } = request
    const values = [account, key, digest(asked), answer.text, answer.balance ?? null]
    const [kept] = await retryOnConnectionLoss(hot, keepFirstAnswer, values)
    // None is found if it stopped to count in this moment.
    return kept ? answer : ((await find(request)) ?? keep(request, answer))
  }

  return { find, keep }
}

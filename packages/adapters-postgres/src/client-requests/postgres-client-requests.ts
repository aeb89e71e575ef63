import {
  initialAgeSeconds,
  type ClientRequest,
  type ClientRequests,
  type FirstAnswer,
} from '@gateway/core/client-requests'
import { credits } from '@gateway/core/credits'
import type { Context } from '../context.ts'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import { findFirstAnswer, keepFirstAnswer } from '../sql/client-requests.ts'
import { digest } from '../value-types.ts'

export function postgresClientRequests({ pools: { hot } }: Context): ClientRequests {
  async function find(request: ClientRequest): Promise<FirstAnswer | 'another-request' | undefined> {
    const [stored] = await retryOnConnectionLoss(hot, findFirstAnswer, {
      key: keyDigest(request),
      digest: askedDigest(request),
    })
    if (stored === undefined) return undefined
    const { same, answer: text, balance } = stored
    // Confirms the stored answer, because the connection that stored it may have broken while it waited for a standby.
    if (same) await hot.confirm()
    return same ? { text, balance: balance === null ? undefined : credits(balance) } : 'another-request'
  }

  async function keep(request: ClientRequest, answer: FirstAnswer): Promise<FirstAnswer | 'another-request'> {
    const values = {
      account: request.account,
      key: keyDigest(request),
      digest: askedDigest(request),
      answer: answer.text,
      balance: answer.balance,
      ageSeconds: initialAgeSeconds(request),
    }
    const [stored] = await retryOnConnectionLoss(hot, keepFirstAnswer, values)
    // `find` returns undefined if the earlier answer has expired in the meantime. Then this answer is stored.
    return stored ? answer : ((await find(request)) ?? keep(request, answer))
  }

  return { find, keep }
}

/** Returns the digest under which the first answer to a request is stored. It differs for each account and key. */
export const keyDigest = ({ account, key }: Pick<ClientRequest, 'account' | 'key'>): string =>
  digest(`${account} ${key}`)

/** Returns the digest by which a repeated request is recognized as the same one. */
export const askedDigest = (request: Pick<ClientRequest, 'canonical'>): string => digest(request.canonical)

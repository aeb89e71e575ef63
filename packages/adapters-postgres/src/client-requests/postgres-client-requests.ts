import type { ClientRequest, ClientRequests, FirstAnswer } from '@gateway/core/client-requests'
import { credits } from '@gateway/core/credits'
import type { Context } from '../context.ts'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import { findFirstAnswer, keepFirstAnswer } from '../sql/client-requests.ts'
import { digest } from '../value-types.ts'

export function postgresClientRequests({ pools: { hot } }: Context): ClientRequests {
  async function find(request: ClientRequest): Promise<FirstAnswer | 'another-request' | undefined> {
    const [kept] = await retryOnConnectionLoss(hot, findFirstAnswer, {
      key: keyDigest(request),
      digest: askedDigest(request),
    })
    if (kept === undefined) return undefined
    const { same, answer: text, balance } = kept
    // Who kept it may have been cut off while it waited for a standby.
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
    }
    const [kept] = await retryOnConnectionLoss(hot, keepFirstAnswer, values)
    // None is found if it stopped to count in this moment.
    return kept ? answer : ((await find(request)) ?? keep(request, answer))
  }

  return { find, keep }
}

/** What its first answer is kept under: another one for each account and key. */
export const keyDigest = ({ account, key }: Pick<ClientRequest, 'account' | 'key'>): string =>
  digest(`${account} ${key}`)

/** Whether a request is the same. */
export const askedDigest = ({ asked }: Pick<ClientRequest, 'asked'>): string => digest(asked)

import type { ClientRequest, FirstAnswer } from './client-requests.ts'

/** Nothing was done; the key is as free as it was. */
type Undone = string | { readonly overLimitSeconds: number }

/**
 * Runs `first` for one of the requests under a key at a time. The same request waits for its result, whatever that is, and takes no
 * share of a rate limit; another one is refused if there is an answer, and else has its turn (ruling 1.24). Of two processes the store
 * decides. Rejects with what `first` rejects with.
 */
export function onceAtATime<Refusal extends Undone>() {
  type Result = FirstAnswer | 'another-request' | Refusal
  /** As many as are worked on. An array: a `Map` would keep what was deleted (docs/decisions/0061). */
  const underWay: UnderWay<Result>[] = []
  const find = ({ account, key }: ClientRequest) =>
    underWay.find(({ request }) => request.key === key && request.account === account)

  return async (request: ClientRequest, first: () => Promise<Result>): Promise<Result> => {
    for (let other = find(request); other !== undefined; other = find(request)) {
      const result = await other.result
      if (other.request.asked === request.asked) return result
      if (isAnswer(result)) return 'another-request'
    }
    const own = { request, result: first() }
    underWay.push(own)
    try {
      return await own.result
    } finally {
      const last = underWay.pop()
      if (last !== undefined && last !== own) underWay[underWay.indexOf(own)] = last
    }
  }
}

interface UnderWay<Result> {
  readonly request: ClientRequest
  readonly result: Promise<Result>
}

export const isAnswer = (result: FirstAnswer | Undone): result is FirstAnswer =>
  typeof result === 'object' && 'text' in result

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
  const underWay = new Map<string, { readonly asked: string; readonly result: Promise<Result> }>()

  return async ({ account, key, asked }: ClientRequest, first: () => Promise<Result>): Promise<Result> => {
    const id = `${account} ${key}`
    for (let other = underWay.get(id); other !== undefined; other = underWay.get(id)) {
      const result = await other.result
      if (other.asked === asked) return result
      if (isAnswer(result)) return 'another-request'
    }
    const result = first().finally(() => underWay.delete(id))
    underWay.set(id, { asked, result })
    return result
  }
}

export const isAnswer = (result: FirstAnswer | Undone): result is FirstAnswer =>
  typeof result === 'object' && 'text' in result

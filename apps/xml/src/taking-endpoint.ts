import type { Account, Gateway, InboxMessage, TakenMessages } from '@gateway/core'
import { inSlices } from '@gateway/server'
import { endpoint, type Endpoint, type Operation } from './endpoint.ts'

interface Taking extends Pick<Operation<object, object>, 'request' | 'response'> {
  readonly take: (gateway: Gateway, account: Account) => Promise<TakenMessages>
  readonly write: (message: InboxMessage) => string
}

/** A return-once call (ruling 1.20): a request of credentials only; an empty root if there is nothing (ruling 4.10). */
export const takingEndpoint = ({ request, response, take, write }: Taking): Endpoint =>
  endpoint<object, object>({
    request,
    response,
    draft: () => ({}),
    inside: {},
    check: (draft) => draft,
    answer: async ({ gateway, account }) => {
      const taken = await take(gateway, account)
      const content = (await inSlices(taken.messages, write)).join('')
      return content === '' ? { content } : { content, offerAgain: () => taken.offerAgain() }
    },
  })

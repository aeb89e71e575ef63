import { manualOptOutText, type OptOut } from '@gateway/core'
import type { Endpoint } from '../endpoint.ts'
import { replyItem } from '../inbox-items.ts'

/** Every opt-out entry, at every call (spec 4.2, rule 4; rulings 1.23, 3.2). */
export const listOptOuts: Endpoint = {
  wrongCredentials: 'FAIL&',
  run: ({ gateway, account }) => ({ items: itemsOf(gateway.listOptOuts(account)) }),
}

async function* itemsOf(optOuts: AsyncIterable<OptOut>): AsyncIterable<string> {
  for await (const { number, since, reply } of optOuts) {
    yield `${replyItem(number, since, reply?.text ?? manualOptOutText, reply?.answers)}&`
  }
}

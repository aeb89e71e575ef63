import { manualOptOutText, type OptOut } from '@gateway/core/suppressions'
import { replyForm, replyItem } from '../answer.ts'
import type { Endpoint } from '../endpoint.ts'

/** Returns all opt-out entries at every call (spec 4.2, rule 4; rulings 1.23, 3.2). */
export const listOptOuts: Endpoint = {
  summary: 'Opt-outs',
  takes: [],
  answers: [replyForm],
  wrongCredentials: 'FAIL&',
  reads: true,
  run: ({ gateway, account }) => ({ owner: String(account.id), items: itemsOf(gateway.queries.listOptOuts(account)) }),
}

async function* itemsOf(optOuts: AsyncIterable<readonly OptOut[]>): AsyncIterable<string> {
  for await (const some of optOuts) yield some.map(optOutItem).join('')
}

const optOutItem = ({ number, since, reply }: OptOut): string =>
  `${replyItem(number, since, reply?.text ?? manualOptOutText, reply?.answers)}&`

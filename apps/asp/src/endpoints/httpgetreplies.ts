import { replyForm, replyItem, takenAnswer } from '../answer.ts'
import type { Endpoint } from '../endpoint.ts'
import { isTrue } from '../parameters.ts'

/** Returns each reply once (spec 4.2, rules 4 and 6; rulings 1.19, 1.20, 3.1). */
export const takeReplies: Endpoint = {
  summary: 'Replies',
  takes: [{ name: 'excludesc', form: 'true or 1 leaves out messages to short codes' }],
  answers: [replyForm],
  wrongCredentials: 'FAIL&',
  run: async ({ gateway, account, parameters }) => {
    const codes = isTrue(parameters, 'excludesc') ? 'without-short-codes' : 'with-short-codes'
    const replies = await gateway.commands.takeReplies(account, codes)
    return takenAnswer(replies, ({ from, at, text, answers }) => replyItem(from, at, text, answers))
  },
}

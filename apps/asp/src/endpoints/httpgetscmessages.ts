import { shortCodeItem, takenAnswer } from '../answer.ts'
import type { Endpoint } from '../endpoint.ts'

/** Returns each short code message once (spec 4.2, rules 4 and 6; ruling 1.20). */
export const takeShortCodeMessages: Endpoint = {
  summary: 'Short code messages',
  takes: [],
  answers: ['SC=<code>;CLI=<number>;DateReceived=<minute>;Message=<text>&'],
  wrongCredentials: 'FAIL&',
  run: async ({ gateway, account }) =>
    takenAnswer(await gateway.commands.takeShortCodeMessages(account), shortCodeItem),
}

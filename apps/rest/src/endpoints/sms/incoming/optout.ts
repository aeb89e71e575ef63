import { formatMinute, manualOptOutText, type OptOut } from '@gateway/core'
import { get, nothing } from '../../../endpoint.ts'

/** getIncomingOptoutMessages: every entry (spec 4.1; rulings 1.23, 2.12). */
export const optOutMessages = get(nothing, ({ gateway, account }) => ({
  owner: String(account.id),
  name: 'incomingOptoutMessages',
  items: itemsOf(gateway.listOptOuts(account)),
}))

async function* itemsOf(optOuts: AsyncIterable<readonly OptOut[]>): AsyncIterable<string> {
  for await (const some of optOuts) yield some.map(optOutJson).join(',')
}

const optOutJson = ({ number, since, reply }: OptOut): string =>
  `{"incomingApiMessageId":${reply?.id ?? null},"mobileNumber":"${number}","receiveTime":"${formatMinute(since)}"` +
  `,"messageText":${JSON.stringify(reply?.text ?? manualOptOutText)},"outgoingApiMessageId":${reply?.answers ?? null}}`

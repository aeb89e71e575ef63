import { manualOptOutText, type OptOut } from '@gateway/core/suppressions'
import { formatMinute } from '@gateway/core/time'
import { Type } from 'typebox'
import {
  answerObject,
  get,
  MessageIdNumber,
  Minute,
  MobileNumber,
  nothing,
  type Operation,
  orNull,
} from '../../../operation.ts'

const operation: Operation = {
  id: 'getOptoutMessages',
  tag: 'Incoming',
  summary: 'Opt-outs',
  description: 'All numbers that have opted out, or that the account holder added. The response is streamed.',
  answer: {
    incomingOptoutMessages: Type.Array(
      answerObject('OptOut', {
        incomingApiMessageId: orNull(
          MessageIdNumber,
          'The id of the message that opted out, or null if the number was added by hand or opted out at the carrier.',
        ),
        mobileNumber: MobileNumber,
        receiveTime: Minute,
        messageText: Type.String({
          description: 'The text of that message, `* MANUALLY ADDED BY USER *`, or `* OPTED OUT AT CARRIER *`.',
        }),
        outgoingApiMessageId: orNull(
          MessageIdNumber,
          'The id of the message that was answered, or that the carrier refused because of the opt-out; else null.',
        ),
      }),
      { description: 'All numbers that have opted out, regardless of the date.' },
    ),
  },
  examples: {
    'by text and by hand': {
      answer: {
        incomingOptoutMessages: [
          {
            incomingApiMessageId: 2,
            mobileNumber: '27825550103',
            receiveTime: '202610181000',
            messageText: 'STOP',
            outgoingApiMessageId: 2,
          },
          {
            incomingApiMessageId: null,
            mobileNumber: '27825550104',
            receiveTime: '202610181000',
            messageText: '* MANUALLY ADDED BY USER *',
            outgoingApiMessageId: null,
          },
        ],
      },
    },
  },
}

/** Operation getIncomingOptoutMessages: all entries (spec 4.1; rulings 1.23, 2.12). */
export const optOutMessages = get(operation, nothing, ({ gateway, account }) => ({
  owner: String(account.id),
  name: 'incomingOptoutMessages',
  items: itemsOf(gateway.queries.listOptOuts(account)),
}))

async function* itemsOf(optOuts: AsyncIterable<readonly OptOut[]>): AsyncIterable<string> {
  for await (const some of optOuts) yield some.map(optOutJson).join(',')
}

const optOutJson = ({ number, since, reply }: OptOut): string =>
  `{"incomingApiMessageId":${reply?.id ?? null},"mobileNumber":"${number}","receiveTime":"${formatMinute(since)}"` +
  `,"messageText":${JSON.stringify(reply?.text ?? manualOptOutText)},"outgoingApiMessageId":${reply?.answers ?? null}}`

import { OUTCOME } from '@gateway/core/messages'
import { STATUS_ERROR_CODE } from '@gateway/wire'
import { Type } from 'typebox'
import {
  answerObject,
  CreditsNumber,
  labelProperties,
  MessageIdNumber,
  Minute,
  MobileNumber,
  oneOf,
} from './operation.ts'

/** What REST says of one message, and an event of a message too (ruling 2.7). */
export const statusProperties = {
  apiMessageId: MessageIdNumber,
  mobileNumber: MobileNumber,
  statusDelivered: Type.Boolean({ description: 'Whether the recipient has it.' }),
  statusErrorCode: oneOf(Object.values(STATUS_ERROR_CODE), 'Whether to ask again, or to send again; blank: delivered.'),
  statusTime: Minute,
  creditCost: CreditsNumber,
  status: oneOf(['DELIVERED', 'SENT', 'NOTFOUND', 'SENDINGFAILED'], 'The word of the other interfaces.'),
  statusCode: Type.Enum([-2, -1, ...Object.values(OUTCOME)], {
    type: 'integer',
    description: 'The code of the other interfaces.',
  }),
  ...labelProperties,
}

/** One element of `messageStatuses`. */
export const MessageStatusAnswer = answerObject('MessageStatus', statusProperties)

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

/** Schemas of the status fields of a message, in REST responses and in events (ruling 2.7). */
export const statusProperties = {
  apiMessageId: MessageIdNumber,
  mobileNumber: MobileNumber,
  statusDelivered: Type.Boolean({ description: 'True if the recipient has received the message.' }),
  statusErrorCode: oneOf(
    Object.values(STATUS_ERROR_CODE),
    'Whether to query again or to send again. Blank if the message was delivered.',
  ),
  statusTime: Minute,
  creditCost: CreditsNumber,
  status: oneOf(['DELIVERED', 'SENT', 'NOTFOUND', 'SENDINGFAILED'], 'The status word of the other interfaces.'),
  statusCode: Type.Enum([-2, -1, ...Object.values(OUTCOME)], {
    type: 'integer',
    description: 'The status code of the other interfaces.',
  }),
  ...labelProperties,
}

/** Schema of one element of `messageStatuses`. */
export const MessageStatusAnswer = answerObject('MessageStatus', statusProperties)

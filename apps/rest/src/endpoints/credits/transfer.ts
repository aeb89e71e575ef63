import type { TransferRefusal } from '@gateway/core/credits'
import { TRANSFER_ERROR } from '@gateway/wire'
import { Type } from 'typebox'
import { failure, type Failure } from '../../answer.ts'
import { type Call, oneOf, type Operation, post } from '../../operation.ts'
import { parseWholeNumbers } from '../../read-json.ts'
import { anotherRequest, readKey } from '../../request.ts'
import { reader } from '../../schema.ts'

const whole = (description: string) => Type.Integer({ expected: 'a whole number', description })

const Transfer = Type.Object(
  {
    sendingAccountNumber: whole('The number of the account that sends the credits, without W.'),
    receivingAccountNumber: whole('The number of the account that receives the credits, without W.'),
    transferQuantity: whole('Whole credits, from 1 to 1000000000000.'),
  },
  { title: 'Transfer', expected: 'an object', description: 'The quantity of credits to move, and the two accounts.' },
)
const readTransfer = reader(Transfer)

const operation: Operation = {
  id: 'transferCredits',
  tag: 'Credits',
  summary: 'Transfer credits',
  description:
    'Moves credits from a main account to one of its sub accounts, back, or between two of its sub accounts. The key must belong to the ' +
    'main account, or to the sub account that sends. Numbers are written in digits only.',
  body: Transfer,
  repeatable: true,
  answer: {
    transferSuccessful: Type.Boolean({ description: 'True if the credits were moved.' }),
    transferError: Type.Optional(
      oneOf(Object.values(TRANSFER_ERROR), 'The reason why nothing was moved. Missing if the credits were moved.'),
    ),
  },
  examples: {
    moved: {
      body: { sendingAccountNumber: 1, receivingAccountNumber: 2, transferQuantity: 50 },
      answer: { transferSuccessful: true },
    },
    'account of another family': {
      body: { sendingAccountNumber: 1, receivingAccountNumber: 99, transferQuantity: 50 },
      answer: { transferSuccessful: false, transferError: 'invalidToAccount' },
    },
    'account as a string': {
      body: { sendingAccountNumber: 'W1', receivingAccountNumber: 2, transferQuantity: 50 },
      answer: failure('field-invalid', 'sendingAccountNumber must be a whole number; got a string.'),
    },
  },
}

/**
 * Operation transferCredits (spec 4.1; ruling 2.13). A main account moves credits between accounts of its family, a sub
 * account only its own credits.
 */
export const transferCredits = post(
  operation,
  readTransfer,
  async ({ gateway, account, idempotencyKey }: Call, transfer) => {
    const key = readKey(idempotencyKey)
    if (typeof key === 'object') return key
    const { sendingAccountNumber: from, receivingAccountNumber: to, transferQuantity: quantity } = transfer
    const done = await gateway.commands.transferCredits(account, { from, to, quantity }, key)
    if (done === 'another-request') return anotherRequest
    return done === 'done' ? '"transferSuccessful":true' : refused(done)
  },
  { slow: true, parse: parseWholeNumbers },
)

const refused = (refusal: TransferRefusal): string | Failure =>
  // An internal failure is not a refusal. Nothing was moved, so the client may repeat the request (ruling 1.25).
  refusal === 'failed' ? nothingMoved : `"transferSuccessful":false,"transferError":"${TRANSFER_ERROR[refusal]}"`

const nothingMoved = failure('unavailable', 'The service is not available. No credits were moved.', {
  'Retry-After': '1',
})

import type { TransferRefusal } from '@gateway/core'
import { TRANSFER_ERROR } from '@gateway/wire'
import { Type } from 'typebox'
import { failure, notAvailable, type Failure } from '../../answer.ts'
import { post, type Call } from '../../endpoint.ts'
import { reader } from '../../schema.ts'
import { parseWholeNumbers } from '../../whole-numbers.ts'

const whole = Type.Integer({ description: 'a whole number' })

const readTransfer = reader(
  Type.Object(
    { sendingAccountNumber: whole, receivingAccountNumber: whole, transferQuantity: whole },
    { description: 'an object' },
  ),
)

/** transferCredits: a main account's key moves credits within the family, a sub account's its own (spec 4.1; ruling 2.13). */
export const transferCredits = post(
  readTransfer,
  async ({ gateway, account, idempotencyKey }: Call, wanted) => {
    // Who sends such a key relies on it when asking again: better no transfer than the same one twice.
    if (idempotencyKey !== undefined) return notAvailable('Idempotency-Key')
    const { sendingAccountNumber: from, receivingAccountNumber: to, transferQuantity: quantity } = wanted
    const done = await gateway.transferCredits(account, { from, to, quantity })
    return done === 'done' ? '"transferSuccessful":true' : refused(done)
  },
  { slow: true, parse: parseWholeNumbers },
)

const refused = (refusal: TransferRefusal): string | Failure =>
  // Our own trouble is not a refusal; it is certain that nothing moved, so the same request may come again (ruling 1.25).
  refusal === 'failed' ? nothingMoved : `"transferSuccessful":false,"transferError":"${TRANSFER_ERROR[refusal]}"`

const nothingMoved = failure(503, 'The service is not available. No credits were moved.', { 'Retry-After': '1' })

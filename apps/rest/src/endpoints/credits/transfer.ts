import { Type } from 'typebox'
import { notAvailable } from '../../answer.ts'
import { post } from '../../endpoint.ts'
import { reader } from '../../schema.ts'

const whole = Type.Integer({ description: 'a whole number' })

const readTransfer = reader(
  Type.Object(
    { sendingAccountNumber: whole, receivingAccountNumber: whole, transferQuantity: whole },
    { description: 'an object' },
  ),
)

/** transferCredits (spec 4.1; ruling 2.13). */
export const transferCredits = post(readTransfer, () => notAvailable('The transfer of credits'))

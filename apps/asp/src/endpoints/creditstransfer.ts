import type { TransferRefusal } from '@gateway/core/credits'
import { TRANSFER_ERROR } from '@gateway/wire'
import { anotherRequest, referenceErrors, unusableReference } from '../answer.ts'
import type { Endpoint } from '../endpoint.ts'
import { clientRef, clientReference, first } from '../parameters.ts'

/** Words for the refusal of a transfer (spec 4.2, transfer results). */
export const TRANSFER_RESULT = { ...TRANSFER_ERROR, failed: 'Fail' } as const satisfies Record<TransferRefusal, string>

const invalidUser = 'Transfer=invalidUser'

/**
 * Moves credits between a main account and its sub accounts. Only the main account may call this endpoint (spec 4.2,
 * rule 5; ruling 3.7).
 */
export const transferCredits: Endpoint = {
  summary: 'Transfer credits',
  takes: [
    { name: 'fromAccountId', form: 'an account number, without W', needed: true },
    { name: 'toAccountId', form: 'an account number, without W', needed: true },
    { name: 'transferQuantity', form: 'whole credits, digits only', needed: true },
    clientRef,
  ],
  answers: [
    ...['Success', 'invalidUser', ...Object.values(TRANSFER_RESULT)].map((word) => `Transfer=${word}`),
    ...referenceErrors,
  ],
  wrongCredentials: invalidUser,
  slow: true,
  run: async ({ gateway, account, parameters }) => {
    if (account.parent !== undefined) return invalidUser
    const key = clientReference(parameters)
    if (key === 'unusable') return unusableReference

    const transfer = {
      from: wholeNumber(first(parameters, 'fromaccountid')),
      to: wholeNumber(first(parameters, 'toaccountid')),
      quantity: wholeNumber(first(parameters, 'transferquantity')),
    }
    const done = await gateway.commands.transferCredits(account, transfer, key)
    if (done === 'another-request') return anotherRequest
    return `Transfer=${done === 'done' ? 'Success' : TRANSFER_RESULT[done]}`
  },
}

/**
 * Reads a number that consists only of digits. Returns NaN otherwise, which is neither a valid account nor a valid
 * quantity.
 */
const wholeNumber = (text = ''): number => (/^[0-9]+$/.test(text) ? Number(text) : NaN)

import type { Account } from '../accounts/account.ts'
import { withoutSomeDigits } from '../audit/redact.ts'
import { holderCommand } from '../command.ts'
import type { Msisdn } from '../messages/msisdn.ts'
import type { HolderPorts } from '../ports.ts'
import { addOptOut, removeOptOut } from './change-suppressions.ts'

export const suppressionQueries = (ports: HolderPorts) => ({
  listOptOuts: ({ id }: Account) => ports.suppressions.optOuts(id),
})

const recordedNumber = (_account: Account, number: Msisdn) => ({ given: { number: withoutSomeDigits(number) } })

export const suppressionCommands = {
  addOptOut: holderCommand({ role: 'sender', run: addOptOut, audit: recordedNumber }),
  removeOptOut: holderCommand({ role: 'sender', run: removeOptOut, audit: recordedNumber }),
}

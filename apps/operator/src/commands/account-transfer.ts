import type { Account, AccountId, TransferRefusal } from '@gateway/core'
import { readAccountId, readWholeCredits } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Context, type Run } from '../context.ts'

interface Wanted {
  readonly from: AccountId
  readonly to: AccountId
  readonly quantity: number
}

const WORDS: Readonly<Record<TransferRefusal, (wanted: Wanted) => string>> = {
  'invalid-from-account': ({ from }) => `There is no account ${from}.`,
  'invalid-to-account': ({ from, to }) => `Account ${to} is not in the family of account ${from}, or is not there.`,
  'from-account-locked': ({ from }) => `Account ${from} is locked, or its main account is.`,
  'to-account-locked': ({ to }) => `Account ${to} is locked.`,
  'same-account': () => 'The two accounts are the same.',
  'invalid-quantity': () => 'A transfer moves 1 to 1000000000000 whole credits.',
  'insufficient-credits': ({ from, quantity }) => `Account ${from} has less than ${quantity} credits.`,
  failed: () => 'The transfer failed; nothing was moved.',
}

export const accountTransfer = (run: Run) =>
  command(
    'transfer',
    'move credits between a main account and its sub accounts, or between two of these',
    'gateway account transfer 3 7 250',
  )
    .argument('<from>', 'the id of the account that gives', readAccountId)
    .argument('<to>', 'the id of the account that gets', readAccountId)
    .argument('<credits>', 'whole credits', readWholeCredits)
    .action((from: AccountId, to: AccountId, quantity: number) =>
      run((context) => transfer(context, { from, to, quantity })),
    )

async function transfer({ backOffice, gateway, output }: Context, wanted: Wanted): Promise<void> {
  const asker = await mainAccount(backOffice, wanted.from)
  const done = asker === undefined ? 'invalid-from-account' : await gateway.transferCredits(asker, wanted)
  if (done !== 'done') throw new Refused(WORDS[done](wanted))
  const { from, to, quantity } = wanted
  output.result(
    { fromAccount: from, toAccount: to, amount: quantity },
    `${quantity} credits moved from account ${from} to account ${to}.`,
  )
}

/** Who may move credits between any of its family. */
async function mainAccount(backOffice: Context['backOffice'], id: AccountId): Promise<Account | undefined> {
  const account = (await backOffice.findAccount(id))?.account
  if (account?.parent === undefined) return account
  return (await backOffice.findAccount(account.parent))?.account
}

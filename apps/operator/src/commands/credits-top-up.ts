import { formatCredits, type AccountId, type Credits } from '@gateway/core'
import { readAccountId, readCredits } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { creditsJson } from '../show.ts'
import { noSuchAccount } from './account-of.ts'

const WORDS = {
  'out-of-range': 'The balance would fall below 0.0 or rise beyond what can be counted.',
  'no-reason': 'Say with --why what the credits are for.',
  'no-amount': 'There is nothing to do for 0.0 credits.',
} as const

export const creditsTopUp = (run: Run) =>
  command(
    'top-up',
    'grant credits to an account, or take some back with a negative amount',
    "gateway credits top-up 3 250 --why 'invoice 2026-118'",
  )
    .argument('<id>', "the account's id", readAccountId)
    .argument('<amount>', 'credits, such as 500 or -12.5', readCredits)
    .requiredOption('--why <text>', 'the reason, kept in the ledger')
    .action((id: AccountId, amount: Credits, { why }: { readonly why: string }) =>
      run(async ({ backOffice, output }) => {
        const balance = await backOffice.topUp(id, amount, why)
        if (balance === 'no-such-account') throw noSuchAccount(id)
        if (typeof balance === 'string') throw new Refused(WORDS[balance])
        output.result(
          { account: id, balance: creditsJson(balance) },
          `Account ${id} now has ${formatCredits(balance)} credits.`,
        )
      }),
    )

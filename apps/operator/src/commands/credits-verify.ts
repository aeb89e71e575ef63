import { formatCredits } from '@gateway/core'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { creditsJson } from '../show.ts'

export const creditsVerify = (run: Run) =>
  command('verify', 'recompute every balance from the ledger; exits with 1 on any difference').action(() =>
    run(async ({ backOffice, output }) => {
      const { accounts, balances, differences } = await output.during('Adding up the ledger', backOffice.verifyLedger())
      const lines = differences.map(
        ({ account, balance, entries }) =>
          `Account ${account}: balance ${formatCredits(balance)}, ledger ${formatCredits(entries)}`,
      )
      const summary = `${accounts} accounts with ${formatCredits(balances)} credits: ${
        differences.length === 0 ? 'every balance is the sum of its entries.' : `${differences.length} differ!`
      }`
      const rows = differences.map(({ account, balance, entries }) => ({
        account,
        balance: creditsJson(balance),
        entries: creditsJson(entries),
      }))
      output.all(rows, [...lines, summary].join('\n'), { sums: { verified: accounts, balance: creditsJson(balances) } })
      if (differences.length > 0) throw new Refused('The ledger and the balances differ.')
    }),
  )

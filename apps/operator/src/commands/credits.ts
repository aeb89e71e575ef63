import { formatCredits, type Credits } from '@gateway/core/credits'
import { formatDate, startOfGatewayDay } from '@gateway/core/time'
import { readAccount, readCredits, readUuid, type AccountName } from '../arguments.ts'
import { command, Refused, type Run } from '../command.ts'
import { counted, creditsJson } from '../show.ts'
import { noSuchAccount } from './account.ts'

const WORDS = {
  'out-of-range': 'The balance would be negative or too large.',
  repeated: 'A top-up with this --operation was already made. Nothing was changed.',
  'no-reason': 'State with --why what the credits are for.',
  'no-amount': 'An amount of 0.0 credits changes nothing.',
} as const

interface TopUpOptions {
  readonly why: string
  readonly operation?: string
}

export const creditsTopUp = (run: Run) =>
  command(
    'top-up',
    'grant credits to an account, or remove credits with a negative amount',
    "gateway credits top-up 3 250 --why 'invoice 2026-118'",
  )
    .argument('<account>', "the account's id or login", readAccount)
    .argument('<amount>', 'credits, such as 500 or -12.5', readCredits)
    .requiredOption('--why <text>', 'the reason, kept in the ledger')
    .option('--operation <uuid>', 'make the change only once, even if the command is repeated with this UUID', readUuid)
    .action((name: AccountName, amount: Credits, { why, operation }: TopUpOptions) =>
      run(async ({ accountId, backOffice, output }) => {
        const id = await accountId(name)
        const balance = await backOffice.commands.topUp(id, amount, why, operation)
        if (balance === 'no-such-account') throw noSuchAccount(id)
        if (typeof balance === 'string') throw new Refused(WORDS[balance])
        output.result(
          { account: id, balance: creditsJson(balance) },
          `Account ${id} now has ${formatCredits(balance)} credits.`,
        )
      }),
    )

export const creditsVerify = (run: Run) =>
  command(
    'verify',
    'recompute every balance from the ledger, and the daily sums from the messages; exits with 1 if any differs',
  ).action(() =>
    run(async ({ backOffice, output }) => {
      const { accounts, balances, differences } = await output.during(
        'Adding up the ledger',
        backOffice.queries.verifyLedger(),
      )
      const wrongSums = await output.during('Counting the messages', backOffice.queries.verifyDailySums())
      const lines = differences.map(
        ({ account, balance, entries }) =>
          `Account ${account}: balance ${formatCredits(balance)}, ledger ${formatCredits(entries)}`,
      )
      const summary = `${counted(accounts, 'account')} with ${formatCredits(balances)} credits: ${
        differences.length === 0
          ? 'every balance is the sum of its entries.'
          : `${differences.length} ${differences.length === 1 ? 'differs' : 'differ'}!`
      }`
      const rows = differences.map(({ account, balance, entries }) => ({
        account,
        balance: creditsJson(balance),
        entries: creditsJson(entries),
      }))
      const sumLines = wrongSums.map(
        ({ account, day, code, sum, counted: messages }) =>
          `Account ${account}, ${formatDate(startOfGatewayDay(day))}, code ${code}: sum ${sum}, messages ${messages}`,
      )
      const all = [...lines, summary, ...sumLines].join('\n')
      const sums = { verified: accounts, balance: creditsJson(balances), wrongDailySums: wrongSums.length }
      output.all(rows, all, { sums })
      if (differences.length > 0) throw new Refused('The ledger and the balances differ.')
      if (wrongSums.length > 0) throw new Refused('The daily sums and the messages differ.')
    }),
  )

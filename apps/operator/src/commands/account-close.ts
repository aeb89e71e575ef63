import { formatCredits, type AccountId, type ClosedAccount } from '@gateway/core'
import { readAccountId } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { creditsJson } from '../show.ts'
import { noSuchAccount } from './account-of.ts'

export const accountClose = (run: Run) =>
  command(
    'close',
    'close an account: lock it, end its keys, password, codes and webhooks, delete and refund what is scheduled',
    "gateway account close 3 --write-off 'contract ended'",
  )
    .argument('<id>', "the account's id", readAccountId)
    .option('--write-off <why>', 'take what is left of its credits, with this reason in the ledger')
    .action((id: AccountId, { writeOff }: { readonly writeOff?: string }) =>
      run(async ({ backOffice, output }) => {
        const closed = await backOffice.closeAccount(id, writeOff)
        if (closed === 'no-such-account') throw noSuchAccount(id)
        if (closed === 'no-reason') throw new Refused('Say with --write-off why the credits are taken.', 2)
        if (closed === 'has-open-sub-accounts')
          throw new Refused(`Account ${id} has sub accounts that are not locked: close these first.`)
        const { refunded, writtenOff, balance, ...counts } = closed
        const amounts = {
          refundedCredits: creditsJson(refunded),
          writtenOff: creditsJson(writtenOff),
          balance: creditsJson(balance),
        }
        output.result({ id, locked: true, ...counts, ...amounts }, words(id, closed))
      }),
    )

function words(id: AccountId, closed: ClosedAccount): string {
  const { keysRevoked, codesReleased, webhooksRemoved, messagesDeleted, refunded, writtenOff, balance } = closed
  return [
    `Account ${id} is closed: it is locked and has no password.`,
    `Ended: ${keysRevoked} keys, ${codesReleased} codes, ${webhooksRemoved} webhooks.`,
    `Scheduled messages deleted: ${messagesDeleted}, ${formatCredits(refunded)} credits refunded.`,
    `Written off: ${formatCredits(writtenOff)} credits; ${formatCredits(balance)} are left.`,
  ].join('\n')
}

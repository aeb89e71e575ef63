import type { AccountId, Instant } from '@gateway/core'
import { readAccountId, readExpiry } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { timeJson, timeText } from '../show.ts'
import { noSuchAccount } from './account-of.ts'

interface Options {
  readonly label?: string
  readonly expires?: Instant
}

export const keyIssue = (run: Run) =>
  command(
    'issue',
    'issue an API key; it is printed this once and stored only as a hash',
    'gateway key issue 3 --label crm --expires 2027-12-31',
  )
    .argument('<id>', "the account's id", readAccountId)
    .option('--label <text>', 'what the key is for')
    .option('--expires <time>', 'a day (its end, GMT+2), a time CCYYMMDDHHmm, or days such as 90d', readExpiry)
    .action((id: AccountId, { label, expires }: Options) =>
      run(async ({ backOffice, output }) => {
        const issued = await backOffice.issueApiKey(id, { label, expires })
        if (issued === 'no-such-account') throw noSuchAccount(id)
        if (issued === 'expired-already') throw new Refused('The key would have expired already.')
        const until = expires === undefined ? '' : `\nIt is valid until ${timeText(expires)} (GMT+2).`
        output.result(
          { id: issued.id, key: issued.key, account: id, label: label ?? '', expires: timeJson(expires) },
          `Key ${issued.id} of account ${id}, shown only now:\n${issued.key}${until}`,
        )
      }),
    )

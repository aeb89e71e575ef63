import type { AccountId } from '@gateway/core'
import { readAccountId, readExpiry, readNetworks, type Moment } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { timeJson, timeText } from '../show.ts'
import { noSuchAccount } from './account-of.ts'

interface Options {
  readonly label?: string
  readonly expires?: Moment
  readonly from?: readonly string[]
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
    .option(
      '--from <networks>',
      "addresses or networks from which alone it may be used, separated by ','",
      readNetworks,
    )
    .action((id: AccountId, { label, expires: expiry, from = [] }: Options) =>
      run(async ({ backOffice, ports, output }) => {
        const expires = expiry?.(ports.clock.now())
        const issued = await backOffice.issueApiKey(id, { label, expires, from })
        if (issued === 'no-such-account') throw noSuchAccount(id)
        if (issued === 'expired-already') throw new Refused('The key would have expired already.')
        const until = expires === undefined ? '' : `\nIt is valid until ${timeText(expires)} (GMT+2).`
        const only = from.length === 0 ? '' : `\nIt may be used from ${from.join(', ')} only.`
        output.result(
          {
            id: issued.id,
            key: issued.key,
            account: id,
            label: label ?? '',
            expires: timeJson(expires),
            networks: from,
          },
          `Key ${issued.id} of account ${id}, shown only now:\n${issued.key}${until}${only}`,
        )
      }),
    )

import type { AccountRate, BackOffice } from '@gateway/core'
import { Option } from 'commander'
import { readLimit } from '../arguments.ts'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import type { Row } from '../output.ts'

interface Options {
  readonly by: 'requests' | 'messages'
  readonly limit: number
}

export const accountTop = (run: Run) =>
  command(
    'top',
    'show who is busiest: requests and messages a second of the last ten seconds, over all processes',
    'gateway account top --by messages',
  )
    .addOption(new Option('--by <what>', 'who comes first').choices(['requests', 'messages']).default('requests'))
    .option('--limit <count>', 'at most so many, up to 1000', readLimit, 20)
    .action(({ by, limit }: Options) =>
      run(async ({ backOffice, output }) => {
        const rates = (await backOffice.listBusyAccounts()).filter((rate) => by === 'requests' || rate[by] > 0)
        const busiest = rates.toSorted((a, b) => b[by] - a[by]).slice(0, limit)
        await output.rows(head, await Promise.all(busiest.map((rate) => row(backOffice, rate))))
        if (busiest.length === 0) output.note('No account has asked for anything in the last half minute.')
      }),
    )

const head = ['ACCOUNT', 'LOGIN', 'REQUESTS/S', 'MESSAGES/S']

async function row(backOffice: BackOffice, { account, requests, messages }: AccountRate): Promise<Row> {
  const login = (await backOffice.findAccount(account))?.account.login ?? ''
  const [requestRate, messageRate] = [tenths(requests), tenths(messages)]
  return {
    json: { account, login, requestRate, messageRate },
    cells: [String(account), login, requestRate.toFixed(1), messageRate.toFixed(1)],
  }
}

const tenths = (rate: number): number => Math.round(rate * 10) / 10

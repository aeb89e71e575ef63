import { formatCredits, type AccountId } from '@gateway/core'
import { readAccountId } from '../arguments.ts'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import { creditsJson } from '../show.ts'
import { accountOf } from './account-of.ts'
import { prefixWord } from './price-prefix.ts'

export const priceList = (run: Run) =>
  command('list', 'list the prices of one part by number prefix; the longest that fits counts')
    .option('--account <id>', 'only the prices of this account, which come before those of all', readAccountId)
    .action(({ account }: { readonly account?: AccountId }) =>
      run(async ({ backOffice, output }) => {
        if (account !== undefined) await accountOf(backOffice, account)
        const prices = await backOffice.listPrices(account)
        await output.rows(
          ['PREFIX', 'CREDITS'],
          prices.map(({ prefix, price }) => ({
            json: { account: account ?? null, prefix: prefixWord(prefix), price: creditsJson(price) },
            cells: [prefixWord(prefix), formatCredits(price)],
          })),
        )
        if (account === undefined && !prices.some(({ prefix }) => prefix === '')) {
          output.note('There is no default price: numbers that no prefix fits are refused as invalid.')
        }
      }),
    )

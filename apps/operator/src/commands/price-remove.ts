import type { AccountId } from '@gateway/core'
import { readAccountId, readPrefix } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { prefixArgument, prefixWord, whose } from './price-prefix.ts'

export const priceRemove = (run: Run) =>
  command(
    'remove',
    "remove the price of a prefix; without 'default' numbers that no prefix fits are refused",
    'gateway price remove 2782',
  )
    .argument('<prefix>', prefixArgument, readPrefix)
    .option('--account <id>', 'that of this account', readAccountId)
    .action((prefix: string, { account }: { readonly account?: AccountId }) =>
      run(async ({ backOffice, output }) => {
        if ((await backOffice.removePrice(prefix, account)) !== 'removed') {
          throw new Refused(`There is no price for ${whose(prefix)}.`)
        }
        output.result(
          { account: account ?? null, prefix: prefixWord(prefix), removed: true },
          account === undefined
            ? sentence(prefix)
            : `Account ${account} has no price of its own for ${whose(prefix)} any more.`,
        )
      }),
    )

const sentence = (prefix: string): string =>
  prefix === ''
    ? 'The default price is removed: numbers that no prefix fits are refused as invalid from now on.'
    : `The price for ${whose(prefix)} is removed: the next shorter prefix counts, or the default.`

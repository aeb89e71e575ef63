import { formatCredits, priceMax, type AccountId, type Credits } from '@gateway/core'
import { readAccountId, readCredits, readPrefix } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { creditsJson } from '../show.ts'
import { noSuchAccount } from './account-of.ts'
import { prefixArgument, prefixWord, whose } from './price-prefix.ts'

const WORDS = {
  'invalid-prefix': 'A prefix is 1 to 15 digits, the first not 0.',
  'invalid-price': `A price is 0.0 to ${formatCredits(priceMax)} credits.`,
} as const

export const priceSet = (run: Run) =>
  command(
    'set',
    'set the price of one part of a message by number prefix, for what is sent from now on',
    'gateway price set 2782 0.8\n  gateway price set default 1\n  gateway price set 27 0.6 --account 3',
  )
    .argument('<prefix>', prefixArgument, readPrefix)
    .argument('<credits>', 'the price of one part, such as 1 or 0.8', readCredits)
    .option('--account <id>', 'for this account only: it comes before the prices of all', readAccountId)
    .action((prefix: string, price: Credits, { account }: { readonly account?: AccountId }) =>
      run(async ({ backOffice, output }) => {
        const set = await backOffice.setPrice(prefix, price, account)
        if (set === 'no-such-account' && account !== undefined) throw noSuchAccount(account)
        if (set === 'no-such-account') throw new Error('a price of all accounts has no account')
        if (set !== 'set') throw new Refused(WORDS[set])
        output.result(
          { account: account ?? null, prefix: prefixWord(prefix), price: creditsJson(price) },
          `One part to ${whose(prefix)} costs ${account === undefined ? '' : `account ${account} `}${formatCredits(price)} credits. Every process knows it within 5 seconds.`,
        )
      }),
    )

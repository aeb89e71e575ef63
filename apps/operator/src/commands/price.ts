import { formatCredits, priceMax, type Credits } from '@gateway/core/credits'
import { defaultPrefix, readAccount, readCredits, readPrefix, type AccountName } from '../arguments.ts'
import { command, Refused, type Run } from '../command.ts'
import { creditsJson } from '../show.ts'
import { noSuchAccount, accountOf } from './account.ts'

const others = 'all numbers without a matching prefix'
const prefixArgument = `the first digits of the numbers, or '${defaultPrefix}' for ${others}`

const prefixWord = (prefix: string): string => (prefix === '' ? defaultPrefix : prefix)

const numbersText = (prefix: string): string => (prefix === '' ? others : `numbers that begin with ${prefix}`)

const WORDS = {
  'invalid-prefix': 'A prefix is 1 to 15 digits, the first not 0.',
  'invalid-price': `A price is 0.0 to ${formatCredits(priceMax)} credits.`,
} as const

export const priceSet = (run: Run) =>
  command(
    'set',
    'set the price of one part of a message by number prefix, for messages accepted from now on',
    'gateway price set 2782 0.8\n  gateway price set default 1\n  gateway price set 27 0.6 --account 3',
  )
    .argument('<prefix>', prefixArgument, readPrefix)
    .argument('<credits>', 'the price of one part, such as 1 or 0.8', readCredits)
    .option('--account <account>', 'for this account only; takes precedence over the general prices', readAccount)
    .action((prefix: string, price: Credits, { account: name }: { readonly account?: AccountName }) =>
      run(async ({ accountId, backOffice, output }) => {
        const account = name && (await accountId(name))
        const set = await backOffice.commands.setPrice(prefix, price, account)
        if (set === 'no-such-account' && account !== undefined) throw noSuchAccount(account)
        if (set === 'no-such-account') throw new Error('the store answered no-such-account for a general price')
        if (set !== 'set') throw new Refused(WORDS[set])
        output.result(
          { account: account ?? null, prefix: prefixWord(prefix), price: creditsJson(price) },
          `One part to ${numbersText(prefix)} costs ${account === undefined ? '' : `account ${account} `}${formatCredits(price)} credits. Every process applies it within 5 seconds.`,
        )
      }),
    )

export const priceRemove = (run: Run) =>
  command(
    'remove',
    "remove the price of a prefix; without a 'default' price, numbers without a matching prefix are refused",
    'gateway price remove 2782',
  )
    .argument('<prefix>', prefixArgument, readPrefix)
    .option('--account <account>', 'the price of this account', readAccount)
    .action((prefix: string, { account: name }: { readonly account?: AccountName }) =>
      run(async ({ accountId, backOffice, output }) => {
        const account = name && (await accountId(name))
        if ((await backOffice.commands.removePrice(prefix, account)) !== 'removed') {
          throw new Refused(`There is no price for ${numbersText(prefix)}.`)
        }
        output.result(
          { account: account ?? null, prefix: prefixWord(prefix), removed: true },
          account === undefined
            ? sentence(prefix)
            : `Account ${account} no longer has its own price for ${numbersText(prefix)}.`,
        )
      }),
    )

const sentence = (prefix: string): string =>
  prefix === ''
    ? 'The default price is removed. Numbers without a matching prefix are refused as invalid from now on.'
    : `The price for ${numbersText(prefix)} is removed. The next shorter matching prefix applies, or the default price.`

export const priceList = (run: Run) =>
  command('list', 'list the prices of one part by number prefix; the longest matching prefix applies')
    .option(
      '--account <account>',
      'only the prices of this account, which take precedence over the general prices',
      readAccount,
    )
    .action(({ account: name }: { readonly account?: AccountName }) =>
      run(async ({ accountId, backOffice, output }) => {
        const account = name && (await accountId(name))
        if (account !== undefined) await accountOf(backOffice, account)
        const prices = await backOffice.queries.listPrices(account)
        await output.rows(
          ['PREFIX', 'CREDITS'],
          prices.map(({ prefix, price }) => ({
            json: { account: account ?? null, prefix: prefixWord(prefix), price: creditsJson(price) },
            cells: [prefixWord(prefix), formatCredits(price)],
          })),
        )
        if (account === undefined && !prices.some(({ prefix }) => prefix === '')) {
          output.note('There is no default price, so numbers without a matching prefix are refused as invalid.')
        }
      }),
    )

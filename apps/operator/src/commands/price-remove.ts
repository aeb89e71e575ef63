import { readPrefix } from '../arguments.ts'
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
    .action((prefix: string) =>
      run(async ({ backOffice, output }) => {
        if ((await backOffice.removePrice(prefix)) !== 'removed') {
          throw new Refused(`There is no price for ${whose(prefix)}.`)
        }
        output.result({ prefix: prefixWord(prefix), removed: true }, sentence(prefix))
      }),
    )

const sentence = (prefix: string): string =>
  prefix === ''
    ? 'The default price is removed: numbers that no prefix fits are refused as invalid from now on.'
    : `The price for ${whose(prefix)} is removed: the next shorter prefix counts, or the default.`

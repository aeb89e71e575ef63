import { formatCredits } from '@gateway/core'
import { command } from '../command.ts'
import type { Run } from '../context.ts'
import { creditsJson } from '../show.ts'
import { prefixWord } from './price-prefix.ts'

export const priceList = (run: Run) =>
  command('list', 'list the prices of one part by number prefix; the longest that fits counts').action(() =>
    run(async ({ backOffice, output }) => {
      const prices = await backOffice.listPrices()
      await output.rows(
        ['PREFIX', 'CREDITS'],
        prices.map(({ prefix, price }) => ({
          json: { prefix: prefixWord(prefix), price: creditsJson(price) },
          cells: [prefixWord(prefix), formatCredits(price)],
        })),
      )
      if (!prices.some(({ prefix }) => prefix === '')) {
        output.note('There is no default price: numbers that no prefix fits are refused as invalid.')
      }
    }),
  )

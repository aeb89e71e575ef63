import type { DailySums, SentMessages } from '@gateway/core/messages'
import type { Context } from '../context.ts'
import { fromRow } from '../sql/statement.ts'
import { findSent, lastSend, listSent } from '../sql/sent-messages.ts'
import {
  busiestAccounts,
  checkDailySums,
  dailySumsByCarrier,
  dailySumsOfAccount,
  foldDailySums,
} from '../sql/daily-sums.ts'

export const postgresSentMessages = ({ pools: { ordinary } }: Context): SentMessages => ({
  list: async (account, page) =>
    (await ordinary.run(listSent, { account, ...page, after: page.after, until: page.until })).map(fromRow),
  find: async (account, message) => {
    const [row] = await ordinary.run(findSent, { account, message })
    return row && fromRow(row)
  },
  lastSend: async (account, since, numbersMin) => {
    const [row] = await ordinary.run(lastSend, { account, since, numbersMin })
    return row && fromRow(row)
  },
})

export const postgresDailySums = ({ pools: { ordinary } }: Context): DailySums => ({
  ofAccount: async (account, from) => (await ordinary.run(dailySumsOfAccount, { account, from })).map(fromRow),
  byCarrier: async (from) => (await ordinary.run(dailySumsByCarrier, { from })).map(fromRow),
  busiest: (from, limit) => ordinary.run(busiestAccounts, { from, limit }),
  fold: async (changesMax) => (await ordinary.run(foldDailySums, { changesMax }))[0]?.folded ?? 0,
  check: async (from) => (await ordinary.run(checkDailySums, { from })).map(fromRow),
})

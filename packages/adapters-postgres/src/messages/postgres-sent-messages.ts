import type { DailySums, SentMessages } from '@gateway/core/messages'
import type { Context } from '../context.ts'
import { messageOfPart } from '../smpp-customers/statuses-of-parts.ts'
import { fromRow } from '../sql/statement.ts'
import { findSent, lastSend, listSent } from '../sql/sent-messages.ts'
import {
  busiestAccounts,
  checkDailySums,
  dailySumsByCarrier,
  dailySumsOfAccount,
  foldDailySums,
} from '../sql/daily-sums.ts'
import { postgresMessageTraces } from './postgres-message-traces.ts'

export const postgresSentMessages = (context: Context): SentMessages => ({
  list: async (account, page) =>
    (await context.pools.ordinary.run(listSent, { account, ...page, after: page.after, until: page.until })).map(
      fromRow,
    ),
  find: async (account, message) => {
    const { ordinary } = context.pools
    const [row] = await ordinary.run(findSent, { account, message })
    if (row !== undefined) return fromRow(row)
    const joined = await messageOfPart(ordinary, message, account)
    const [found] = joined === undefined ? [] : await ordinary.run(findSent, { account, message: joined })
    return found && fromRow(found)
  },
  lastSend: async (account, since, numbersMin) => {
    const [row] = await context.pools.ordinary.run(lastSend, { account, since, numbersMin })
    return row && fromRow(row)
  },
  ...postgresMessageTraces(context),
})

export const postgresDailySums = ({ pools: { ordinary } }: Context): DailySums => ({
  ofAccount: async (account, from) => (await ordinary.run(dailySumsOfAccount, { account, from })).map(fromRow),
  byCarrier: async (from) => (await ordinary.run(dailySumsByCarrier, { from })).map(fromRow),
  busiest: (from, limit) => ordinary.run(busiestAccounts, { from, limit }),
  fold: async (changesMax) => (await ordinary.run(foldDailySums, { changesMax }))[0]?.folded ?? 0,
  check: async (from) => (await ordinary.run(checkDailySums, { from })).map(fromRow),
})

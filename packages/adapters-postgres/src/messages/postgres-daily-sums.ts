import type { AccountId, DailySum, DailySumDifference, DailySums } from '@gateway/core'
import type { Context } from '../context.ts'
import { fromRow } from '../row-of.ts'
import {
  busiestAccounts,
  checkDailySums,
  dailySumsByCarrier,
  dailySumsOfAccount,
  foldDailySums,
} from '../sql/daily-sums.ts'

export const postgresDailySums = ({ pools: { ordinary } }: Context): DailySums => ({
  ofAccount: async (account, from) =>
    (await ordinary.run(dailySumsOfAccount, { account, from })).map((row) => fromRow<DailySum>(row)),
  byCarrier: async (from) =>
    (await ordinary.run(dailySumsByCarrier, { from })).map((row) => fromRow<Omit<DailySum, 'day'>>(row)),
  busiest: async (from, limit) =>
    (await ordinary.run(busiestAccounts, { from, limit })).map(({ account, messages }) => ({
      account: account as AccountId,
      messages,
    })),
  fold: async (changesMax) => (await ordinary.run(foldDailySums, { changesMax }))[0]?.folded ?? 0,
  check: async (from) => (await ordinary.run(checkDailySums, { from })).map((row) => fromRow<DailySumDifference>(row)),
})

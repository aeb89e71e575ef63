import { toldRatesMax, type AccountId, type AccountRates } from '@gateway/core'
import type { Context } from '../context.ts'
import { arrayOf } from '../sql/arrays.ts'
import { listAccountRates, tellAccountRates } from '../sql/account-rates.ts'

export const postgresAccountRates = ({ pools: { ordinary } }: Context): AccountRates => ({
  async tell(by, rates) {
    const told = rates.slice(0, toldRatesMax)
    const accounts = arrayOf(told.map(({ account }) => account))
    const requests = arrayOf(told.map((rate) => rate.requests))
    const messages = arrayOf(told.map((rate) => rate.messages))
    await ordinary.run(tellAccountRates, [by, accounts, requests, messages])
  },
  list: async (seconds) =>
    (await ordinary.run(listAccountRates, [seconds])).map((row) => ({ ...row, account: row.account as AccountId })),
})

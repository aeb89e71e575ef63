import type { PreparedStatement } from './prepared-statement.ts'

export interface AccountBalance {
  readonly balance: number
  readonly locked: boolean
}

/** What account $1 has at this moment. */
export const readAccount: PreparedStatement<AccountBalance> = {
  name: 'read-account',
  text: 'select balance, locked from account where id = $1',
}

/** The same, and nobody changes it until the transaction ends. */
export const lockAccount: PreparedStatement<AccountBalance> = {
  name: 'lock-account',
  text: 'select balance, locked from account where id = $1 for update',
}

/** Those of the accounts $1 that there are. */
export const readBalances: PreparedStatement<{ id: number; balance: number }> = {
  name: 'read-balances',
  text: 'select id, balance from account where id = any ($1::int[])',
}

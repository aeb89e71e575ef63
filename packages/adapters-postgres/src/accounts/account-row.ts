import {
  credits,
  type Account,
  type AccountId,
  type AccountWithBalance,
  type Msisdn,
  type SenderAddress,
} from '@gateway/core'
import { sql } from 'kysely'
import type { Pools } from '../pools.ts'

export interface AccountRow {
  readonly id: number
  readonly parent_id: number | null
  readonly login: string
  readonly first_name: string
  readonly surname: string
  readonly locked: boolean
  readonly own_number: number | null
  readonly transactional: boolean
  readonly from_networks: readonly string[]
  readonly requests_per_second: number | null
  readonly recipients_per_second: number | null
  readonly codes: readonly string[]
}

const directoryColumns = [
  'account.id',
  'account.parent_id',
  'account.locked',
  'directory.login',
  'directory.first_name',
  'directory.surname',
  'directory.own_number',
  'directory.transactional',
  'directory.from_networks',
  'directory.requests_per_second',
  'directory.recipients_per_second',
] as const

/** Those of an account, the first that was assigned to it first. */
const codes = sql<string[]>`array(select address from sender where account_id = account.id order by assigned_at, id)`

/** Accounts with all that core knows of one. */
export const selectAccounts = ({ kysely }: Pick<Pools, 'kysely'>) =>
  kysely
    .selectFrom('account')
    .innerJoin('directory', 'directory.account_id', 'account.id')
    .select([...directoryColumns, 'account.balance', codes.as('codes')])

export const accountOf = (row: AccountRow): Account => ({
  id: row.id as AccountId,
  parent: row.parent_id === null ? undefined : (row.parent_id as AccountId),
  login: row.login,
  firstName: row.first_name,
  surname: row.surname,
  locked: row.locked,
  trial: row.own_number === null ? undefined : { ownNumber: String(row.own_number) as Msisdn },
  transactional: row.transactional,
  from: row.from_networks,
  requestsPerSecond: row.requests_per_second ?? undefined,
  recipientsPerSecond: row.recipients_per_second ?? undefined,
  shortCodes: row.codes as readonly SenderAddress[],
})

export const withBalance = (row: AccountRow & { readonly balance: number }): AccountWithBalance => ({
  account: accountOf(row),
  balance: credits(row.balance),
})

import { formatCredits, type AccountWithBalance } from '@gateway/core'
import { get, nothing } from '../endpoint.ts'

/** The sub accounts of a main account with their balances; a sub account has none (ruling 2.14). */
export const subAccounts = get(nothing, async ({ gateway, account }) => {
  const found = await gateway.listSubAccounts(account)
  return `"subAccounts":[${found.map(subAccountJson).join()}]`
})

const subAccountJson = ({ account: { id, login, firstName, surname }, balance }: AccountWithBalance): string =>
  `{"accountNumber":${id},"loginName":${JSON.stringify(login)},"firstName":${JSON.stringify(firstName)}` +
  `,"surname":${JSON.stringify(surname)},"creditBalance":${formatCredits(balance)}}`

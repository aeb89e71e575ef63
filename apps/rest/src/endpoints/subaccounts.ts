import type { AccountWithBalance } from '@gateway/core/accounts'
import { formatCredits } from '@gateway/core/credits'
import { Type } from 'typebox'
import { AccountNumber, answerObject, CreditsNumber, get, nothing, type Operation } from '../operation.ts'

const operation: Operation = {
  id: 'getSubAccounts',
  tag: 'Credits',
  summary: 'Sub accounts',
  description: 'The sub accounts of a main account, by number. A sub account has none.',
  answer: {
    subAccounts: Type.Array(
      answerObject('SubAccount', {
        accountNumber: AccountNumber,
        loginName: Type.String({ description: 'The user name for the interfaces that use one.' }),
        firstName: Type.String({ description: 'The first name of its holder.' }),
        surname: Type.String({ description: 'The surname of its holder.' }),
        creditBalance: CreditsNumber,
      }),
      { description: 'The sub accounts, by number.' },
    ),
  },
  examples: {
    one: {
      answer: {
        subAccounts: [
          { accountNumber: 2, loginName: 'acme-shop', firstName: 'Ada', surname: 'Lovelace', creditBalance: 50 },
        ],
      },
    },
  },
}

/** Lists the sub accounts of a main account with their balances. The list of a sub account is empty (ruling 2.14). */
export const subAccounts = get(operation, nothing, async ({ gateway, account }) => {
  const found = await gateway.queries.listSubAccounts(account)
  return `"subAccounts":[${found.map(subAccountJson).join()}]`
})

const subAccountJson = ({ account: { id, login, firstName, surname }, balance }: AccountWithBalance): string =>
  `{"accountNumber":${id},"loginName":${JSON.stringify(login)},"firstName":${JSON.stringify(firstName)}` +
  `,"surname":${JSON.stringify(surname)},"creditBalance":${formatCredits(balance)}}`

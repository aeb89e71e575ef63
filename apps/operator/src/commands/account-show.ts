import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { accountJson, accountLines } from '../show.ts'

export const accountShow = (run: Run) =>
  command('show', 'show one account, by its id or by its login', 'gateway account show acme')
    .argument('[account]', "its id, or its login in any letter case; of digits, the id's account comes first")
    .option('--login <login>', 'by this login, also if it is digits')
    .action((name: string | undefined, { login }: { readonly login?: string }) => {
      if ((name === undefined) === (login === undefined))
        throw new Refused('Name one account: its id, or its login.', 2)
      return run(async ({ backOffice, output }) => {
        const found =
          login === undefined
            ? await backOffice.findAccountByName(name ?? '')
            : await backOffice.findAccountByLogin(login)
        if (found === undefined) throw new Refused(`There is no account ${login ?? name}.`)
        output.one(accountJson(found.account, found.balance), accountLines(found.account, found.balance))
      })
    })

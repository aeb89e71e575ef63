import type { AccountChange, AccountId } from '@gateway/core'
import { Refused, type Context } from '../context.ts'
import { accountJson, accountLines } from '../show.ts'
import { noSuchAccount } from './account-of.ts'

const WORDS = {
  'invalid-login': 'A login is 1 to 64 printable ASCII characters without spaces.',
  'login-taken': 'Another account has this login.',
} as const

/** Changes an account and shows it as it is then. */
export async function changeAndShow(
  { backOffice, output }: Pick<Context, 'backOffice' | 'output'>,
  id: AccountId,
  change: AccountChange,
): Promise<void> {
  const changed = await backOffice.changeAccount(id, change)
  const found = changed === 'changed' ? await backOffice.findAccount(id) : undefined
  if (changed === 'no-such-account' || (changed === 'changed' && found === undefined)) {
    throw noSuchAccount(id)
  }
  if (changed !== 'changed') throw new Refused(WORDS[changed])
  if (found !== undefined) {
    output.result(accountJson(found.account, found.balance), accountLines(found.account, found.balance))
  }
}

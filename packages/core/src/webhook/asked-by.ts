import type { Account, AccountId } from '../account/account.ts'

type UseCase<Args extends readonly unknown[], Result> = (by: AccountId | undefined, ...args: Args) => Result

/** What an account holder may do with endpoints of the account only. */
export const byHolder =
  <Args extends readonly unknown[], Result>(useCase: UseCase<Args, Result>) =>
  (account: Account, ...args: Args): Result =>
    useCase(account.id, ...args)

/** The same with the endpoints of any account. */
export const byOperator =
  <Args extends readonly unknown[], Result>(useCase: UseCase<Args, Result>) =>
  (...args: Args): Result =>
    useCase(undefined, ...args)

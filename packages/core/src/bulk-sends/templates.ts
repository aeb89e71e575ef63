import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'

export type TemplateId = Brand<number, 'TemplateId'>

export const templateLimits = { perAccountMax: 100, nameCharactersMax: 60 } as const

/** Text that an account sends repeatedly. It may have fields, like the text of a bulk send. */
export interface NewTemplate {
  /** Name, unique within the account. */
  readonly name: string
  readonly text: string
}

export interface Template extends NewTemplate {
  readonly id: TemplateId
}

/** Stored texts of accounts. No account sees those of another (P-10). */
export interface Templates {
  /** Lists the templates of the account by name in code point order. */
  list(by: AccountId): Promise<readonly Template[]>
  /**
   * Adds a template. Of concurrent calls with one name only one succeeds. An account never has more than
   * `perAccountMax`.
   */
  add(by: AccountId, template: NewTemplate): Promise<TemplateId | 'name-taken' | 'too-many'>
  change(by: AccountId, id: TemplateId, to: NewTemplate): Promise<'changed' | 'name-taken' | 'no-such-template'>
  /** Removes a template. Returns false if the account has no such template. */
  remove(by: AccountId, id: TemplateId): Promise<boolean>
}

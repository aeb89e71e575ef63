import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'

export type TemplateId = Brand<number, 'TemplateId'>

export const templateLimits = { perAccountMax: 100, nameCharactersMax: 60 } as const

/** A text that an account sends again and again; it may have fields, as the text of a bulk send has. */
export interface NewTemplate {
  /** Unique in the account. */
  readonly name: string
  readonly text: string
}

export interface Template extends NewTemplate {
  readonly id: TemplateId
}

/** The texts that accounts keep. Two accounts never learn anything of each other's (P-10). */
export interface Templates {
  /** All of the account, by name in the order of its characters. */
  list(by: AccountId): Promise<readonly Template[]>
  /** Of many callers with one name one is told an id, and never more than `perAccountMax` are kept. */
  add(by: AccountId, template: NewTemplate): Promise<TemplateId | 'name-taken' | 'too-many'>
  change(by: AccountId, id: TemplateId, to: NewTemplate): Promise<'changed' | 'name-taken' | 'no-such-template'>
  /** False: it is not there, or another account's. */
  remove(by: AccountId, id: TemplateId): Promise<boolean>
}

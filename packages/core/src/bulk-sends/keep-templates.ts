import type { Account } from '../accounts/account.ts'
import type { Ports } from '../ports.ts'
import { bodyOf } from '../messages/body.ts'
import { templateLimits, type NewTemplate, type Template, type TemplateId } from './templates.ts'

export type TemplateProblem = 'no-name' | 'long-name' | 'no-message' | 'too-long'

/** Returns why a template cannot be stored. The length of its text is measured before fields are filled in. */
export function templateProblem({ name, text }: NewTemplate): TemplateProblem | undefined {
  if (name.trim() === '' || /[\p{Cc}\p{Cs}]/u.test(name)) return 'no-name'
  if (Array.from(name).length > templateLimits.nameCharactersMax) return 'long-name'
  const body = bodyOf(text)
  return typeof body === 'string' ? body : undefined
}

type TemplatePorts = Pick<Ports, 'templates'>

export const findTemplate =
  ({ templates }: TemplatePorts) =>
  async (account: Account, id: TemplateId): Promise<Template | undefined> =>
    (await templates.list(account.id)).find((one) => one.id === id)

export const addTemplate =
  ({ templates }: TemplatePorts) =>
  async (account: Account, template: NewTemplate): Promise<TemplateId | TemplateProblem | 'name-taken' | 'too-many'> =>
    templateProblem(template) ?? templates.add(account.id, template)

export const changeTemplate =
  ({ templates }: TemplatePorts) =>
  async (
    account: Account,
    id: TemplateId,
    to: NewTemplate,
  ): Promise<'changed' | TemplateProblem | 'name-taken' | 'no-such-template'> =>
    templateProblem(to) ?? templates.change(account.id, id, to)

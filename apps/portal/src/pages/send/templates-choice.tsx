import type { Template } from '@gateway/core/bulk-sends'
import { Choice, Hidden, Second } from '../../components.tsx'
import type { HolderVisit } from '../../page.ts'

/** Templates of the account, and the template that the reader has chosen for the text. */
export interface TemplateChoice {
  readonly templates: readonly Template[]
  readonly chosen: Template | undefined
}

export const noTemplates: TemplateChoice = { templates: [], chosen: undefined }

export async function templateChoice({ gateway, account, query }: HolderVisit): Promise<TemplateChoice> {
  const templates = await gateway.queries.listTemplates(account)
  return { templates, chosen: templates.find(({ id }) => String(id) === query.get('template')) }
}

/** Form that fills the text in from a stored template. `to` is the number that the page was opened with. */
export const Templates = ({
  of: { templates, chosen },
  to = '',
}: {
  readonly of: TemplateChoice
  readonly to?: string
}) =>
  templates.length === 0 ? null : (
    <form method="get" class="search">
      {to !== '' && <Hidden name="to" value={to} />}
      <Choice
        name="template"
        label="Template"
        value={chosen === undefined ? '' : String(chosen.id)}
        options={[['', 'None'], ...templates.map(({ id, name }) => [String(id), name] as const)]}
      />
      <Second>Use</Second>
    </form>
  )

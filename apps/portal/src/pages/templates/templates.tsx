import type { GatewayCommands } from '@gateway/core'
import { fieldsOf, templateLimits, type NewTemplate, type Template, type TemplateId } from '@gateway/core/bulk-sends'
import { Form, Hidden, Link, Main, Notice, Panel, ProblemSummary, Second, Table, TextField } from '../../components.tsx'
import type { Fields, Problems } from '../../forms.ts'
import { forHolders, type HolderVisit, type View } from '../../page.ts'
import { TextToSend } from '../send/draft-fields.tsx'
import { shortText } from '../send/sends.tsx'

type Refused = Extract<Awaited<ReturnType<GatewayCommands['addTemplate']>>, string>

const PROBLEM: Readonly<Record<Refused, Problems>> = {
  'no-name': { name: 'Enter a name by which you will find the template.' },
  'long-name': { name: `A name has up to ${templateLimits.nameCharactersMax} characters.` },
  'name-taken': { name: 'You already have a template with this name.' },
  'too-many': { name: `You have ${templateLimits.perAccountMax} templates. Remove one first.` },
  'no-message': { text: 'Enter a text.' },
  'too-long': { text: 'The text is too long: up to 918 characters can be sent.' },
}

const done: Readonly<Record<string, string>> = {
  added: 'The template was added. Choose “Use” to start a message with it.',
  changed: 'The template was changed. Messages that were already sent stay unchanged.',
  removed: 'The template was removed.',
}

const enteredTemplate = (fields: Fields): NewTemplate => ({ name: fields.trimmed('name'), text: fields.text('text') })

/** Returns the template of the path if it belongs to the account. */
async function ownTemplate({ gateway, account, parameters }: HolderVisit): Promise<Template | undefined> {
  const id = /^[1-9][0-9]{0,14}$/.test(parameters.id ?? '') ? Number(parameters.id) : undefined
  return id === undefined ? undefined : gateway.queries.findTemplate(account, id as TemplateId)
}

const TemplateFields = ({
  of: { name, text },
  problems,
}: {
  readonly of: NewTemplate
  readonly problems: Problems
}) => (
  <>
    <TextField name="name" label="Name" hint="Recipients do not see it." value={name} problems={problems} />
    <TextToSend text={text} problems={problems} />
    <p class="hint">
      Use a field in braces for text that differs for each person: “Dear {'{name}'}”. The columns of a file fill in
      fields.
    </p>
  </>
)

async function view(visit: HolderVisit, draft: NewTemplate, problems: Problems = {}): Promise<View> {
  const { gateway, account, query } = visit
  const templates = await gateway.queries.listTemplates(account)
  const notice = done[query.get('done') ?? '']
  return {
    title: 'Templates',
    place: 'send',
    status: Object.keys(problems).length > 0 ? 422 : 200,
    main: (
      <>
        <h1>Templates</h1>
        {notice !== undefined && <Notice>{notice}</Notice>}
        <ProblemSummary problems={problems} />
        <Panel>
          <Table
            caption="Your templates"
            rows={templates}
            empty="Keep texts here that you send repeatedly. Add the first one below."
            columns={[
              {
                head: 'Name',
                cell: ({ id, name }) => (
                  <Link to={`/templates/${id}`} isName>
                    {name}
                  </Link>
                ),
              },
              { head: 'Text', cell: ({ text }) => <span class="text">{shortText(text)}</span> },
              { head: 'Fields', cell: ({ text }) => <span class="text">{fieldsOf(text).join(', ') || '–'}</span> },
              {
                head: 'Send',
                cell: ({ id, name }) => (
                  <Link to={`/send?template=${id}`}>
                    Use<span class="unseen"> {name}</span>
                  </Link>
                ),
              },
            ]}
          />
        </Panel>
        <Form to="/templates" class="panel">
          <h2>New template</h2>
          <TemplateFields of={draft} problems={problems} />
          <Main>Add the template</Main>
        </Form>
        <div class="actions">
          <Link to="/send">Send messages</Link>
        </div>
      </>
    ),
  }
}

/** `/templates`: lists the templates of the account and adds new ones. */
export const templates = forHolders({
  path: '/templates',
  changes: 'addTemplate',
  show: (visit) => view(visit, { name: '', text: '' }),
  async submit(visit, fields) {
    const { gateway, account } = visit
    const draft = enteredTemplate(fields)
    const added = await gateway.commands.addTemplate(account, draft)
    if (typeof added !== 'string') return { goTo: '/templates?done=added' }
    // If the form is submitted twice, the template already exists.
    const isThere = (await gateway.queries.listTemplates(account)).some(
      ({ name, text }) => name === draft.name && text === draft.text,
    )
    return added === 'name-taken' && isThere ? { goTo: '/templates?done=added' } : view(visit, draft, PROBLEM[added])
  },
})

const changeView = (id: TemplateId, draft: NewTemplate, problems: Problems = {}): View => ({
  title: 'Change a template',
  place: 'send',
  status: Object.keys(problems).length > 0 ? 422 : 200,
  main: (
    <>
      <h1>Change a template</h1>
      <ProblemSummary problems={problems} />
      <Form to={`/templates/${id}`} class="panel">
        <Hidden name="do" value="change" />
        <TemplateFields of={draft} problems={problems} />
        <Main>Change it</Main>
      </Form>
      <div class="actions">
        <Form to={`/templates/${id}`}>
          <Hidden name="do" value="remove" />
          <Second>Remove this template</Second>
        </Form>
        <Link to="/templates">All templates</Link>
      </div>
    </>
  ),
})

/** `/templates/<id>`: changes or removes a template. */
export const template = forHolders({
  path: '/templates/:id',
  isForm: true,
  changes: 'changeTemplate',
  async show(visit) {
    const found = await ownTemplate(visit)
    return found === undefined ? 'not-found' : changeView(found.id, found)
  },
  async submit(visit, fields) {
    const { gateway, account } = visit
    const found = await ownTemplate(visit)
    if (fields.text('do') === 'remove') {
      if (found !== undefined) await gateway.commands.removeTemplate(account, found.id)
      return { goTo: `/templates${found === undefined ? '' : '?done=removed'}` }
    }
    if (found === undefined) return 'not-found'
    const draft = enteredTemplate(fields)
    const changed = await gateway.commands.changeTemplate(account, found.id, draft)
    if (changed === 'no-such-template') return 'not-found'
    return changed === 'changed' ? { goTo: '/templates?done=changed' } : changeView(found.id, draft, PROBLEM[changed])
  },
})

import { randomUUID } from 'node:crypto'
import { keyId } from '@gateway/core/accounts'
import { Form, Hidden, Link, Main, Notice, Panel, ProblemSummary, Second, TextField } from '../../components.tsx'
import type { Problems } from '../../forms.ts'
import { forHolders, type HolderVisit, type View } from '../../page.ts'
import { KeyTable } from './key-table.tsx'
import { SettingsTabs } from './settings-tabs.tsx'

const labelCharactersMax = 60

async function view(visit: HolderVisit, label = '', problems: Problems = {}): Promise<View> {
  const { gateway, account, now, query } = visit
  const keys = await gateway.queries.listKeys(account)
  return {
    title: 'API keys',
    place: 'settings',
    status: Object.keys(problems).length > 0 ? 422 : 200,
    main: (
      <>
        <h1>Settings</h1>
        <SettingsTabs at="/settings/keys" />
        {query.get('done') === 'revoked' && (
          <Notice>The key is revoked. All interfaces refuse it within 5 seconds.</Notice>
        )}
        {query.get('done') === 'repeated' && (
          <Notice tone="wait">
            The form was sent twice, and one key was made. If you did not copy it, revoke it and make another one.
          </Notice>
        )}
        <ProblemSummary problems={problems} />
        <Form to="/settings/keys" class="panel">
          <Hidden name="operation" value={randomUUID()} />
          <h2>New key</h2>
          <TextField
            name="label"
            label="Label"
            hint="The program that uses the key, such as “shop”. Programs send the key instead of login and password."
            value={label}
            problems={problems}
          />
          <Main>Make a key</Main>
        </Form>
        <Panel>
          <KeyTable
            caption="Your keys"
            keys={keys}
            now={now}
            empty="You have no keys yet."
            change={({ id }) => <Link to={`/settings/keys/${id}`}>Revoke</Link>}
          />
        </Panel>
      </>
    ),
  }
}

const shown = (key: string, label: string): View => ({
  title: 'Your new key',
  place: 'settings',
  main: (
    <>
      <h1>Your new key</h1>
      <Panel>
        <p>
          <strong>Copy it now. It is shown only this once.</strong> {label}
        </p>
        <p>
          <code class="secret">{key}</code>
        </p>
      </Panel>
      <div class="actions">
        <Link to="/settings/keys">I have copied it</Link>
      </div>
    </>
  ),
})

/**
 * `/settings/keys`: lists the keys of the account and makes new ones. A new key is shown once, in the response that
 * made it.
 */
export const keys = forHolders({
  path: '/settings/keys',
  show: (visit) => view(visit),
  changes: 'issueKey',
  async submit(visit, fields) {
    const { gateway, account } = visit
    const label = fields.trimmed('label')
    if (label === '') return view(visit, label, { label: 'Enter a label by which you will recognize the key.' })
    if (label.length > labelCharactersMax)
      return view(visit, label, { label: `A label has up to ${labelCharactersMax} characters.` })
    const operation = fields.operation()
    const issued = operation && (await gateway.commands.issueKey(account, { label, operation }))
    if (issued === 'repeated') return { goTo: '/settings/keys?done=repeated' }
    return typeof issued === 'object' ? shown(issued.key, label) : 'not-found'
  },
})

/** `/settings/keys/<id>`: asks for confirmation before a key is revoked, because this cannot be undone. */
export const key = forHolders({
  path: '/settings/keys/:id',
  isForm: true,
  async show({ gateway, account, parameters }) {
    const found = (await gateway.queries.listKeys(account)).find(({ id }) => String(id) === parameters.id)
    if (found === undefined) return 'not-found'
    const name = found.label === '' ? `${found.prefix}…` : found.label
    return {
      title: `Revoke the key ${name}`,
      place: 'settings',
      main: (
        <>
          <h1>Revoke the key {name}?</h1>
          <p>Programs that use the key are refused from then on. This cannot be undone.</p>
          <div class="actions">
            <Form to={`/settings/keys/${found.id}`}>
              <Second>Revoke the key</Second>
            </Form>
            <Link to="/settings/keys">Keep it</Link>
          </div>
        </>
      ),
    }
  },
  changes: 'issueKey',
  async submit({ gateway, account, parameters }) {
    const id = keyId(Number(parameters.id))
    const revoked = id === undefined ? 'no-such-key' : await gateway.commands.revokeKey(account, id)
    return revoked === 'no-such-key' ? 'not-found' : { goTo: '/settings/keys?done=revoked' }
  },
})

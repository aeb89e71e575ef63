import type { ShownBind, SmppCredential, WaitingDeliveries } from '@gateway/core/smpp-customers'
import { Form, Link, Main, Notice, Panel, Table, When } from '../../components.tsx'
import { forHolders, type HolderVisit, type View } from '../../page.ts'
import { SettingsTabs } from './settings-tabs.tsx'

async function view({ gateway, account, query }: HolderVisit): Promise<View> {
  const [credentials, binds, waiting] = await Promise.all([
    gateway.queries.listSmppCredentials(account),
    gateway.queries.listSmppBinds(account),
    gateway.queries.smppWaiting(account),
  ])
  return {
    title: 'SMPP',
    place: 'settings',
    main: (
      <>
        <h1>Settings</h1>
        <SettingsTabs at="/settings/smpp" />
        {query.get('done') === 'removed' && <Notice>The credential was removed. Its binds are closed.</Notice>}
        <Panel>
          <Table<SmppCredential>
            caption="Your credentials"
            rows={credentials}
            empty="With a credential, software that speaks SMPP 3.4 sends and receives over your account."
            columns={[
              { head: 'system_id', cell: ({ id, systemId }) => <Link to={`/settings/smpp/${id}`}>{systemId}</Link> },
              { head: 'Since', cell: ({ created }) => <When at={created} /> },
              { head: 'Binds', number: true, cell: ({ binds: most }) => String(most) },
              { head: 'Window', number: true, cell: ({ window }) => String(window) },
              { head: 'Per second', number: true, cell: ({ perSecond }) => String(perSecond) },
              { head: 'data_coding 0', cell: ({ alphabet0 }) => alphabet0 },
              { head: 'data_coding 1', cell: ({ alphabet1 }) => alphabet1 },
              { head: 'Used from', cell: ({ from }) => (from.length === 0 ? 'anywhere' : from.join(', ')) },
            ]}
          />
        </Panel>
        <Form to="/settings/smpp" class="panel">
          <h2>New credential</h2>
          <p>It has the usual limits and alphabets. Your operator can change them.</p>
          <Main>Make a credential</Main>
        </Form>
        <Panel>
          <BindTable binds={binds} />
          <p>{waitingText(waiting)}</p>
        </Panel>
      </>
    ),
  }
}

const BindTable = ({ binds }: { readonly binds: readonly ShownBind[] }) => (
  <Table<ShownBind>
    caption="Binds now"
    rows={binds}
    empty="No software is bound."
    columns={[
      { head: 'system_id', cell: ({ systemId }) => systemId },
      { head: 'Mode', cell: ({ mode }) => mode },
      { head: 'From', cell: ({ remote }) => remote },
      { head: 'Since', cell: ({ since }) => <When at={since} /> },
      { head: 'Submitted', number: true, cell: ({ submissions }) => String(submissions) },
      { head: 'Outside the alphabet', number: true, cell: ({ strayTexts }) => String(strayTexts) },
      { head: 'Last error', cell: ({ lastError }) => lastError ?? '' },
    ]}
  />
)

const waitingText = ({ receipts, replies }: WaitingDeliveries): string =>
  receipts + replies === 0
    ? 'No receipts or replies wait for a bind.'
    : `${receipts} receipts and ${replies} replies wait for a receiving bind. They are kept for 72 hours.`

/** Page that shows a new password once. */
const shown = (title: string, { systemId }: SmppCredential, password: string): View => ({
  title,
  place: 'settings',
  main: (
    <>
      <h1>{title}</h1>
      <Panel>
        <p>
          <strong>Copy it now. It is shown only this once.</strong> The system_id is {systemId}.
        </p>
        <p>
          <code class="secret">{password}</code>
        </p>
      </Panel>
      <div class="actions">
        <Link to="/settings/smpp">I have copied it</Link>
      </div>
    </>
  ),
})

/** `/settings/smpp`: lists the SMPP credentials and binds of the account, and makes credentials. */
export const smpp = forHolders({
  path: '/settings/smpp',
  show: view,
  changes: 'addSmppCredential',
  async submit({ gateway, account }) {
    const added = await gateway.commands.addSmppCredential(account)
    return typeof added === 'string' ? 'not-found' : shown('Your new password', added.credential, added.password)
  },
})

/** Finds the credential of the path among those of the account. */
const find = async ({ gateway, account, parameters }: HolderVisit): Promise<SmppCredential | undefined> =>
  (await gateway.queries.listSmppCredentials(account)).find(({ id }) => String(id) === parameters.id)

/** `/settings/smpp/<id>`: replaces the password of a credential. */
export const smppCredential = forHolders({
  path: '/settings/smpp/:id',
  isForm: true,
  async show(visit) {
    const credential = await find(visit)
    if (credential === undefined) return 'not-found'
    return {
      title: credential.systemId,
      place: 'settings',
      main: (
        <>
          <h1>{credential.systemId}</h1>
          <p>A new password ends the binds that were opened with the present one.</p>
          <div class="actions">
            <Form to={`/settings/smpp/${credential.id}`}>
              <Main>Make a new password</Main>
            </Form>
            <Link to={`/settings/smpp/${credential.id}/remove`}>Remove it</Link>
            <Link to="/settings/smpp">Back</Link>
          </div>
        </>
      ),
    }
  },
  changes: 'rotateSmppCredential',
  async submit(visit) {
    const credential = await find(visit)
    if (credential === undefined) return 'not-found'
    const rotated = await visit.gateway.commands.rotateSmppCredential(visit.account, credential.id)
    return typeof rotated === 'string' ? 'not-found' : shown('Your new password', rotated.credential, rotated.password)
  },
})

/** `/settings/smpp/<id>/remove`: asks before a credential is removed, because this cannot be undone. */
export const smppRemoval = forHolders({
  path: '/settings/smpp/:id/remove',
  isForm: true,
  async show(visit) {
    const credential = await find(visit)
    if (credential === undefined) return 'not-found'
    const title = `Remove ${credential.systemId}?`
    return {
      title,
      place: 'settings',
      main: (
        <>
          <h1>{title}</h1>
          <p>Software that is bound with it is disconnected and refused from then on. This cannot be undone.</p>
          <div class="actions">
            <Form to={`/settings/smpp/${credential.id}/remove`}>
              <Main>Remove it</Main>
            </Form>
            <Link to="/settings/smpp">Keep it</Link>
          </div>
        </>
      ),
    }
  },
  changes: 'removeSmppCredential',
  async submit(visit) {
    const credential = await find(visit)
    if (credential === undefined) return 'not-found'
    await visit.gateway.commands.removeSmppCredential(visit.account, credential.id)
    return { goTo: '/settings/smpp?done=removed' }
  },
})

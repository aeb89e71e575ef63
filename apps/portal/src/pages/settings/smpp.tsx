import {
  repliesByChoices,
  type RepliesBy,
  type ShownBind,
  type SmppCredential,
  type WaitingDeliveries,
} from '@gateway/core/smpp-customers'
import { Choice, Form, Hidden, Link, Main, Notice, Panel, Second, Table, When, type Column } from '../../components.tsx'
import { forHolders, type HolderVisit, type View } from '../../page.ts'
import { SettingsTabs } from './settings-tabs.tsx'
import { newPassword } from './smpp-credential.tsx'

async function view({ gateway, account, query }: HolderVisit): Promise<View> {
  const [credentials, binds, waiting, repliesBy] = await Promise.all([
    gateway.queries.listSmppCredentials(account),
    gateway.queries.listSmppBinds(account),
    gateway.queries.smppWaiting(account),
    gateway.queries.repliesBy(account),
  ])
  return {
    title: 'SMPP',
    place: 'settings',
    main: (
      <>
        <h1>Settings</h1>
        <SettingsTabs at="/settings/smpp" />
        {query.get('done') === 'removed' && <Notice>The credential was removed. Its binds are closed.</Notice>}
        {query.get('done') === 'replies' && <Notice>Replies are delivered there from now on.</Notice>}
        <Panel>
          <Table<SmppCredential>
            caption="Your credentials"
            rows={credentials}
            empty="With a credential, software that speaks SMPP 3.4 sends and receives over your account."
            columns={[
              { head: 'system_id', cell: ({ id, systemId }) => <Link to={`/settings/smpp/${id}`}>{systemId}</Link> },
              ...credentialColumns,
            ]}
          />
        </Panel>
        <Form to="/settings/smpp" class="panel">
          <h2>New credential</h2>
          <p>It has the usual limits. Its alphabets and addresses can be changed afterwards.</p>
          <Main>Make a credential</Main>
        </Form>
        {credentials.length > 0 && <RepliesForm by={repliesBy} />}
        <Panel>
          <Table<ShownBind> caption="Binds now" rows={binds} empty="No software is bound." columns={bindColumns} />
          <p>{waitingText(waiting)}</p>
        </Panel>
      </>
    ),
  }
}

/** Columns of a list of credentials, without their names. */
export const credentialColumns: readonly Column<SmppCredential>[] = [
  { head: 'Since', cell: ({ created }) => <When at={created} /> },
  { head: 'Binds', number: true, cell: ({ binds: most }) => String(most) },
  { head: 'Window', number: true, cell: ({ window }) => String(window) },
  { head: 'Per second', number: true, cell: ({ perSecond }) => String(perSecond) },
  { head: 'data_coding 0', cell: ({ alphabet0 }) => alphabet0 },
  { head: 'data_coding 1', cell: ({ alphabet1 }) => alphabet1 },
  { head: 'Used from', cell: ({ from }) => (from.length === 0 ? 'anywhere' : from.join(', ')) },
]

/** Columns of a list of binds. */
export const bindColumns: readonly Column<ShownBind>[] = [
  { head: 'system_id', cell: ({ systemId }) => systemId },
  { head: 'Mode', cell: ({ mode }) => mode },
  { head: 'From', cell: ({ remote }) => remote },
  { head: 'Since', cell: ({ since }) => <When at={since} /> },
  { head: 'Submitted', number: true, cell: ({ submissions }) => String(submissions) },
  { head: 'Outside the alphabet', number: true, cell: ({ strayTexts }) => String(strayTexts) },
  { head: 'Last error', cell: ({ lastError }) => lastError ?? '' },
]

const REPLIES_BY: Readonly<Record<RepliesBy, string>> = {
  smpp: 'SMPP, over a receiving bind',
  webhook: 'Your webhooks',
  polling: 'Neither: programs fetch them over HTTP',
}

const RepliesForm = ({ by }: { readonly by: RepliesBy }) => (
  <Form to="/settings/smpp" class="panel">
    <Hidden name="do" value="replies" />
    <h2>Replies</h2>
    <Choice
      name="by"
      label="Replies of persons go to"
      hint="The inbox shows them in any case."
      value={by}
      options={repliesByChoices.map((choice) => [choice, REPLIES_BY[choice]] as const)}
    />
    <Second>Save</Second>
  </Form>
)

const waitingText = ({ receipts, replies }: WaitingDeliveries): string =>
  receipts + replies === 0
    ? 'No receipts or replies wait for a bind.'
    : `${receipts} receipts and ${replies} replies wait for a receiving bind. Those that no client takes are dropped in time.`

/**
 * `/settings/smpp`: lists the SMPP credentials and binds of the account, makes credentials, and chooses who gets the
 * replies.
 */
export const smpp = forHolders({
  path: '/settings/smpp',
  show: view,
  changes: 'addSmppCredential',
  async submit({ gateway, account }, fields) {
    if (fields.text('do') === 'replies') {
      const by = repliesByChoices.find((choice) => choice === fields.text('by'))
      const isSet = by !== undefined && (await gateway.commands.setRepliesBy(account, by))
      return isSet ? { goTo: '/settings/smpp?done=replies' } : 'not-found'
    }
    const added = await gateway.commands.addSmppCredential(account)
    return typeof added === 'string' ? 'not-found' : newPassword(added)
  },
})

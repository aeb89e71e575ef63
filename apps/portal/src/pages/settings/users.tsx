import { newPasswordMin, userRoles, type User, type UserId, type UserRole } from '@gateway/core/people'
import {
  Form,
  Hidden,
  Link,
  Main,
  Notice,
  Panel,
  Pill,
  ProblemSummary,
  Second,
  Table,
  TextField,
  When,
} from '../../components.tsx'
import type { Problems } from '../../forms.ts'
import { forHolders, type HolderVisit, type View } from '../../page.ts'
import { SettingsTabs } from './settings-tabs.tsx'

const ROLE: Readonly<Record<UserRole, string>> = {
  owner: 'Owner: may do everything, including keys, webhooks, users and transfers',
  sender: 'Sender: sends and answers, cancels scheduled messages, changes opt-outs',
  reader: 'Reader: sees everything but changes nothing',
}

const roleOf = (text: string): UserRole | undefined => userRoles.find((role) => role === text)

const done: Readonly<Record<string, string>> = {
  changed: 'The user was changed. The change applies at once.',
  removed: 'The user was removed, and is signed out everywhere.',
}

function StateOfUser({ of: { locked, hasPassword } }: { readonly of: User }) {
  if (locked) return <Pill tone="bad">locked</Pill>
  return hasPassword ? <Pill tone="good">open</Pill> : <Pill tone="wait">invited</Pill>
}

const Roles = ({ chosen }: { readonly chosen: UserRole }) => (
  <fieldset>
    <legend>Role</legend>
    {userRoles.map((role) => (
      <label key={role} class="box">
        <input type="radio" name="role" value={role} checked={role === chosen} /> {ROLE[role]}
      </label>
    ))}
  </fieldset>
)

async function view(visit: HolderVisit, email = '', problems: Problems = {}): Promise<View> {
  const { gateway, account, user: own, query } = visit
  const notice = done[query.get('done') ?? '']
  return {
    title: 'Users',
    place: 'settings',
    status: Object.keys(problems).length > 0 ? 422 : 200,
    main: (
      <>
        <h1>Settings</h1>
        <SettingsTabs at="/settings/users" />
        {notice !== undefined && <Notice>{notice}</Notice>}
        <ProblemSummary problems={problems} />
        <Panel>
          <Table
            caption="People who sign in for this account"
            rows={await gateway.queries.listUsers(account)}
            empty="There are no users yet: everybody signs in with the login and password of the account. Invite people instead."
            columns={[
              { head: 'E-mail', cell: ({ email: address }) => <span class="text">{address}</span> },
              { head: 'Role', cell: ({ role }) => role },
              { head: 'State', cell: (user) => <StateOfUser of={user} /> },
              { head: 'Added', cell: ({ added }) => <When at={added} /> },
              {
                head: 'Change',
                cell: ({ id, email: address }) =>
                  id === own?.id ? (
                    'you'
                  ) : (
                    <Link to={`/settings/users/${id}`} isName>
                      {address}
                    </Link>
                  ),
              },
            ]}
          />
          <p class="hint">A person with the login and password of the account itself has the rights of an owner.</p>
        </Panel>
        <Form to="/settings/users" class="panel">
          <h2>Invite somebody</h2>
          <TextField
            name="email"
            label="E-mail"
            hint="The person signs in with this address. No mail is sent: you pass on a link, which is shown once."
            value={email}
            problems={problems}
          />
          <Roles chosen="sender" />
          <Main>Make a link</Main>
        </Form>
      </>
    ),
  }
}

/**
 * Page that shows an invitation link once. The link has no host, because only the browser knows the name of the portal.
 */
const linkView = (email: string, token: string): View => ({
  title: 'The link',
  place: 'settings',
  main: (
    <>
      <h1>A link for {email}</h1>
      <Panel>
        <p>
          <strong>Copy this link now and pass it on. It is shown only this once.</strong> With the link, the person
          chooses a password, once, within three days. Anybody who has the link can do so: send it in a way that only
          the person reads.
        </p>
        <p>
          <Link to={`/invitation?token=${token}`} class="secret">
            /invitation?token={token}
          </Link>
        </p>
      </Panel>
      <div class="actions">
        <Link to="/settings/users">I have copied it</Link>
      </div>
    </>
  ),
})

const WORDS = {
  'invalid-email': 'Enter an address such as ann@acme.example.',
  'email-taken': 'This address is in use already. Each person signs in for one account.',
}

/** `/settings/users`: lists the users of the account. Owners invite people here. */
export const users = forHolders({
  path: '/settings/users',
  show: (visit) => view(visit),
  changes: 'inviteUser',
  async submit(visit, fields) {
    const [email, role] = [fields.trimmed('email'), roleOf(fields.text('role'))]
    if (role === undefined) return 'not-found'
    const invited = await visit.gateway.commands.inviteUser(visit.account, { email, role })
    if (invited === 'no-such-account') return 'not-found'
    return typeof invited === 'string' ? view(visit, email, { email: WORDS[invited] }) : linkView(email, invited.token)
  },
})

/** Returns the user of the path, or undefined if it is the visitor, because users cannot change their own role. */
async function otherUser({ gateway, account, user, parameters }: HolderVisit): Promise<User | undefined> {
  const id = Number(parameters.id)
  const isId = Number.isSafeInteger(id) && id > 0 && id < 2 ** 31 && id !== user?.id
  return isId ? gateway.queries.findUser(account, id as UserId) : undefined
}

/** `/settings/users/<id>`: lets an owner change the role of a user, lock or remove the user, and make a new link. */
export const user = forHolders({
  path: '/settings/users/:id',
  isForm: true,
  async show(visit) {
    const found = await otherUser(visit)
    if (found === undefined) return 'not-found'
    const { id, email, role, locked } = found
    const to = `/settings/users/${id}`
    return {
      title: email,
      place: 'settings',
      main: (
        <>
          <h1>{email}</h1>
          <p>
            <StateOfUser of={found} />
          </p>
          <Form to={to} class="panel">
            <Hidden name="do" value="role" />
            <Roles chosen={role} />
            <Main>Change the role</Main>
          </Form>
          <Panel title="Signing in">
            <Form to={to} class="actions">
              <Second name="do" value="link">
                Make a new link
              </Second>
              <Second name="do" value={locked ? 'unlock' : 'lock'}>
                {locked ? 'Unlock' : 'Lock'}
              </Second>
              <Second name="do" value="factor">
                Remove a lost second factor
              </Second>
              <Second name="do" value="remove">
                Remove the user
              </Second>
            </Form>
            <p class="hint">
              With a new link, the person chooses another password of at least {newPasswordMin} characters. Locking or
              removing a user signs the person out everywhere. A removed user can be invited again.
            </p>
          </Panel>
          <div class="actions">
            <Link to="/settings/users">All users</Link>
          </div>
        </>
      ),
    }
  },
  changes: 'setUserRole',
  async submit(visit, fields) {
    const [found, role] = [await otherUser(visit), roleOf(fields.text('role'))]
    if (found === undefined) return 'not-found'
    const { gateway, account } = visit
    const { id, email } = found
    switch (fields.text('do')) {
      case 'role':
        if (role === undefined) return 'not-found'
        await gateway.commands.setUserRole(account, id, role)
        break
      case 'link': {
        const renewed = await gateway.commands.renewUserLink(account, id)
        return typeof renewed === 'string' ? 'not-found' : linkView(email, renewed.token)
      }
      case 'lock':
        await gateway.commands.lockUser(account, id)
        break
      case 'unlock':
        await gateway.commands.unlockUser(account, id)
        break
      case 'factor':
        await gateway.commands.resetUserFactor(account, id)
        break
      case 'remove':
        await gateway.commands.removeUser(account, id)
        return { goTo: '/settings/users?done=removed' }
      default:
        return 'not-found'
    }
    return { goTo: '/settings/users?done=changed' }
  },
})

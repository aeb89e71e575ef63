import { randomUUID } from 'node:crypto'
import {
  accountId,
  credits,
  keyId,
  minus,
  parseCredits,
  type AccountFactor,
  type AccountId,
  type AccountWithBalance,
  type ApiKey,
  type BackOffice,
  type Credits,
  type ListedChange,
  type ListedPrice,
  type User,
} from '@gateway/core'
import {
  Figures,
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
} from '../../components.tsx'
import type { Fields, Problems } from '../../forms.ts'
import { amount } from '../../format.ts'
import { nameOf } from '../../layout.tsx'
import { forOperators, type Answer, type GoTo, type OperatorVisit, type View } from '../../page.ts'
import { KeyTable } from '../settings/key-table.tsx'
import { Changes } from './audit.tsx'

const changesMax = 10

interface Known {
  readonly found: AccountWithBalance
  readonly keys: readonly ApiKey[]
  readonly prices: readonly ListedPrice[]
  readonly users: readonly User[]
  readonly subAccounts: readonly AccountWithBalance[]
  readonly second: AccountFactor
  readonly changes: readonly ListedChange[]
}

async function read(backOffice: BackOffice, id: AccountId): Promise<Known | undefined> {
  const found = await backOffice.findAccount(id)
  if (found === undefined) return undefined
  const [keys, prices, users, subAccounts, second, changes] = await Promise.all([
    backOffice.listApiKeys(id),
    backOffice.listPrices(id),
    backOffice.listUsers(id),
    backOffice.listSubAccounts(found.account),
    backOffice.showAccountFactor(id),
    backOffice.listChanges({ account: id }, changesMax),
  ])
  return { found, keys, prices, users, subAccounts, second, changes }
}

/** What was just done, or is shown this once. */
interface Told {
  readonly notice?: View['main']
  readonly problems?: Problems
  readonly fields?: Fields
}

function view({ operator, now }: OperatorVisit, known: Known, { notice, problems = {}, fields }: Told = {}): View {
  const { found, keys, prices, users, subAccounts, second, changes } = known
  const { account, balance } = found
  const { id, locked, parent } = account
  const to = `/operator/accounts/${id}`
  const isAdmin = operator.role === 'admin'
  const Action = ({ act, children }: { readonly act: string; readonly children: string }) => (
    <Form to={to}>
      <Hidden name="act" value={act} />
      <Second>{children}</Second>
    </Form>
  )
  return {
    title: `Account ${id}`,
    place: 'operator-accounts',
    status: Object.keys(problems).length > 0 ? 422 : 200,
    main: (
      <>
        {notice}
        <ProblemSummary problems={problems} />
        <h1>
          Account {id}, {nameOf(account)} {locked ? <Pill tone="bad">locked</Pill> : <Pill tone="good">open</Pill>}
        </h1>
        <Panel>
          <Figures
            of={[
              ['Credits', amount(balance)],
              ['Login', account.login],
              [
                'Main account',
                parent === undefined ? 'it is one' : <Link to={`/operator/accounts/${parent}`}>{parent}</Link>,
              ],
              ['Requests a second', account.requestsPerSecond ?? 'no limit'],
              ['Recipients a second', account.recipientsPerSecond ?? 'no limit'],
            ]}
          />
          <div class="actions">
            <Action act={locked ? 'unlock' : 'lock'}>{locked ? 'Unlock this account' : 'Lock this account'}</Action>
            <Action act="act-as">Look at its pages</Action>
            {isAdmin && !locked && <Action act="link">Make a link that signs in once</Action>}
          </div>
          <p class="hint">
            To look at its pages shows what its owner sees, message texts too, for half an hour at the most. Nothing can
            be changed there, and it is recorded. A locked account can look things up and cannot send. What it has
            waiting ends as not sent, and is given back.
          </p>
        </Panel>
        {isAdmin && (
          <Panel title="Add or take credits">
            <Form to={to}>
              <Hidden name="act" value="top-up" />
              <Hidden name="operation" value={randomUUID()} />
              <TextField
                name="amount"
                label="Credits"
                hint="With at most one decimal; a minus sign takes them"
                value={fields?.text('amount') ?? ''}
                problems={problems}
              />
              <TextField
                name="why"
                label="Reason"
                hint="It stands in the statement of the account"
                value={fields?.text('why') ?? ''}
                problems={problems}
              />
              <Main>Change the balance</Main>
            </Form>
          </Panel>
        )}
        <Panel title="API keys">
          <KeyTable
            caption="Keys of this account"
            keys={keys}
            now={now}
            empty="This account has no key."
            change={({ id: key }) => (
              <Form to={to}>
                <Hidden name="act" value="revoke-key" />
                <Hidden name="key" value={String(key)} />
                <button type="submit" class="plain">
                  Revoke key {key}
                </button>
              </Form>
            )}
          />
          {isAdmin && (
            <Form to={to}>
              <Hidden name="act" value="issue-key" />
              <Hidden name="operation" value={randomUUID()} />
              <TextField name="label" label="Label of a new key" problems={problems} />
              <Second>Issue a key</Second>
            </Form>
          )}
        </Panel>
        <Panel title="Prices">
          <Table
            caption="Prices of one part that this account has of its own"
            rows={prices}
            empty="This account has the prices that all have."
            columns={[
              { head: 'Numbers that begin with', cell: ({ prefix }) => (prefix === '' ? 'anything else' : prefix) },
              { head: 'Credits', cell: ({ price }) => amount(price), number: true },
            ]}
          />
          {isAdmin && (
            <Form to={to}>
              <Hidden name="act" value="price" />
              <TextField
                name="prefix"
                label="Numbers that begin with"
                hint="Digits; nothing stands for all other numbers"
                value={fields?.text('prefix') ?? ''}
                problems={problems}
              />
              <TextField
                name="price"
                label="Credits for one part"
                hint="Nothing removes the price: the one of all accounts counts again"
                value={fields?.text('price') ?? ''}
                problems={problems}
              />
              <Second>Set the price</Second>
            </Form>
          )}
        </Panel>
        {isAdmin && (
          <Panel title="Limits">
            <Form to={to}>
              <Hidden name="act" value="limits" />
              <TextField
                name="requests"
                label="Requests a second"
                hint="Of all interfaces together; nothing stands for no limit"
                value={fields?.text('requests') ?? String(account.requestsPerSecond ?? '')}
                problems={problems}
              />
              <TextField
                name="recipients"
                label="Recipients a second"
                hint="Nothing stands for no limit"
                value={fields?.text('recipients') ?? String(account.recipientsPerSecond ?? '')}
                problems={problems}
              />
              <Second>Set the limits</Second>
            </Form>
          </Panel>
        )}
        <Panel title="Users">
          <Table
            caption="People who sign in for this account"
            rows={users}
            empty="Nobody has an own password. Owners invite people at the portal, or you by gateway account user."
            columns={[
              { head: 'E-mail', cell: ({ email }) => <span class="text">{email}</span> },
              { head: 'Role', cell: ({ role }) => role },
              { head: 'State', cell: (user) => (user.locked ? 'locked' : user.hasPassword ? 'open' : 'invited') },
              {
                head: 'Change',
                cell: (user) => (
                  <Form to={to}>
                    <Hidden name="act" value={user.locked ? 'unlock-user' : 'lock-user'} />
                    <Hidden name="user" value={String(user.id)} />
                    <button type="submit" class="plain">
                      {user.locked ? 'Unlock' : 'Lock'} {user.email}
                    </button>
                  </Form>
                ),
              },
            ]}
          />
        </Panel>
        <Panel title="Second factor">
          <p>
            {second.factor === undefined ? 'The account has none. ' : 'The account has one. '}
            {second.isRequired ? 'Whoever signs in has to have one.' : 'It is not required.'}
          </p>
          {isAdmin && (
            <div class="actions">
              <Action act={second.isRequired ? 'spare-factor' : 'require-factor'}>
                {second.isRequired ? 'Do not require it' : 'Require a second factor'}
              </Action>
              {second.factor !== undefined && <Action act="reset-factor">Remove the second factor</Action>}
            </div>
          )}
        </Panel>
        {subAccounts.length > 0 && (
          <Panel title="Sub accounts">
            <Table
              caption="Accounts below this one"
              rows={subAccounts}
              empty=""
              columns={[
                {
                  head: 'Id',
                  cell: (sub) => <Link to={`/operator/accounts/${sub.account.id}`}>{sub.account.id}</Link>,
                  number: true,
                },
                { head: 'Login', cell: (sub) => sub.account.login },
                { head: 'Credits', cell: (sub) => amount(sub.balance), number: true },
              ]}
            />
          </Panel>
        )}
        <Panel title="What was changed">
          <Changes of={changes} empty="Nobody has changed anything of this account." />
        </Panel>
      </>
    ),
  }
}

/** What became of a change, as the page says it. */
type Done = Told | GoTo | 'not-found'

const ACTS: Readonly<Record<string, (visit: OperatorVisit, id: AccountId, fields: Fields) => Promise<Done>>> = {
  async lock({ backOffice }, id) {
    await backOffice.lockAccount(id)
    return { notice: <Notice>The account is locked. Whoever was signed in is not any more.</Notice> }
  },
  async 'act-as'({ backOffice, operator, session }, id) {
    const until = await backOffice.actAs(id, operator.id, session.id)
    return until === undefined ? 'not-found' : { goTo: '/' }
  },
  async unlock({ backOffice }, id) {
    await backOffice.unlockAccount(id)
    return { notice: <Notice>The account is open again.</Notice> }
  },
  async link({ backOffice }, id) {
    const offered = await backOffice.offerSignInLink(id)
    if (offered === 'no-such-account') return 'not-found'
    if (offered === 'second-factor')
      return { notice: <Notice tone="bad">No link is made for an account with a second factor.</Notice> }
    return {
      notice: (
        <Notice>
          This link signs in once, within an hour. It is shown this once: <code>/link?token={offered.token}</code>
        </Notice>
      ),
    }
  },
  async 'top-up'({ backOffice }, id, fields) {
    const [wanted, why] = [parseCredits(fields.trimmed('amount')), fields.trimmed('why')]
    if (wanted === undefined || wanted === 0)
      return { fields, problems: { amount: 'Enter how many credits, such as 500 or -12.5.' } }
    if (why === '') return { fields, problems: { why: 'Enter a reason.' } }
    const operation = fields.operation()
    if (operation === undefined) return 'not-found'
    const after = await backOffice.topUp(id, wanted, why, operation)
    if (after === 'repeated') return { notice: <Notice>That was done before, and was not done again.</Notice> }
    if (after === 'no-such-account') return 'not-found'
    if (typeof after === 'string') return { fields, problems: { amount: OUT_OF_RANGE } }
    return { notice: <Notice>{toppedUp(wanted, after)}</Notice> }
  },
  async price({ backOffice }, id, fields) {
    const [prefix, given] = [fields.trimmed('prefix'), fields.trimmed('price')]
    if (given === '') {
      if ((await backOffice.removePrice(prefix, id)) === 'removed')
        return { notice: <Notice>The price is removed.</Notice> }
      return { fields, problems: { prefix: 'The account has no price for this.' } }
    }
    const price = parseCredits(given)
    const set = price === undefined ? 'invalid-price' : await backOffice.setPrice(prefix, price, id)
    if (set === 'no-such-account') return 'not-found'
    if (set === 'invalid-prefix') return { fields, problems: { prefix: 'Enter up to 15 digits, or nothing.' } }
    if (set === 'invalid-price') return { fields, problems: { price: 'Enter credits from 0.0, such as 0.7.' } }
    return { notice: <Notice>The price is set. Every process knows it within 5 seconds.</Notice> }
  },
  async limits({ backOffice }, id, fields) {
    const [requests, recipients] = [limitOf(fields.trimmed('requests')), limitOf(fields.trimmed('recipients'))]
    const wrong = 'Enter a whole number from 1 to 1000000, or nothing.'
    const problems = {
      ...(requests === 'wrong' && { requests: wrong }),
      ...(recipients === 'wrong' && { recipients: wrong }),
    }
    if (requests === 'wrong' || recipients === 'wrong') return { fields, problems }
    const changed = await backOffice.changeAccount(id, { requestsPerSecond: requests, recipientsPerSecond: recipients })
    if (changed !== 'changed') return 'not-found'
    return { notice: <Notice>The limits are set. Every process knows them within 5 seconds.</Notice> }
  },
  async 'issue-key'({ backOffice }, id, fields) {
    const label = fields.trimmed('label')
    if (label.length > 100) return { fields, problems: { label: 'A label has at most 100 characters.' } }
    const operation = fields.operation()
    const issued = operation && (await backOffice.issueApiKey(id, { label, operation }))
    if (issued === 'repeated')
      return { notice: <Notice>That was done before, and was not done again. A key is shown once.</Notice> }
    if (issued === undefined || typeof issued === 'string') return 'not-found'
    return {
      notice: (
        <Notice>
          Key {issued.id} is <code>{issued.key}</code>. It is shown this once.
        </Notice>
      ),
    }
  },
  async 'require-factor'({ backOffice }, id) {
    await backOffice.requireAccountFactor(id, true)
    return { notice: <Notice>A second factor is required. Who is signed in without one is not any more.</Notice> }
  },
  async 'spare-factor'({ backOffice }, id) {
    await backOffice.requireAccountFactor(id, false)
    return { notice: <Notice>A second factor is not required any more.</Notice> }
  },
  async 'reset-factor'({ backOffice }, id) {
    await backOffice.resetAccountFactor(id)
    return { notice: <Notice>The second factor is removed. Signing in asks for the password alone.</Notice> }
  },
  'lock-user': (visit, id, fields) => changeUser(visit, id, fields, 'lockUser'),
  'unlock-user': (visit, id, fields) => changeUser(visit, id, fields, 'unlockUser'),
  async 'revoke-key'({ backOffice }, id, fields) {
    const key = keyId(Number(fields.text('key')))
    const isOwn = (await backOffice.listApiKeys(id)).some((one) => one.id === key)
    if (key === undefined || !isOwn) return 'not-found'
    await backOffice.revokeApiKey(key)
    return { notice: <Notice>Key {key} opens nothing any more, in every process within 5 seconds.</Notice> }
  },
}

async function changeUser(
  { backOffice }: OperatorVisit,
  id: AccountId,
  fields: Fields,
  change: 'lockUser' | 'unlockUser',
): Promise<Done> {
  const user = (await backOffice.listUsers(id)).find((one) => one.id === fields.number('user'))
  if (user === undefined) return 'not-found'
  await backOffice[change](id, user.id)
  return { notice: <Notice>{user.email} was changed. It counts at once.</Notice> }
}

/** Null: none. */
function limitOf(text: string): number | null | 'wrong' {
  if (text === '') return null
  return /^[1-9][0-9]{0,5}$|^1000000$/.test(text) ? Number(text) : 'wrong'
}

const OUT_OF_RANGE = 'The balance would be below zero, or larger than a balance can be.'

const toppedUp = (wanted: Credits, after: Credits): string =>
  wanted > 0
    ? `${amount(wanted)} credits were added. The account has ${amount(after)} now.`
    : `${amount(minus(credits(0), wanted))} credits were taken. The account has ${amount(after)} now.`

/** `/operator/accounts/<id>`: its money, keys, prices, users and limits, and what was changed. */
export const account = forOperators({
  path: '/operator/accounts/:id',
  async show(visit) {
    const id = accountId(Number(visit.parameters.id))
    const known = id === undefined ? undefined : await read(visit.backOffice, id)
    return known === undefined ? 'not-found' : view(visit, known)
  },
  async submit(visit, fields): Promise<Answer> {
    const id = accountId(Number(visit.parameters.id))
    const name = fields.text('act')
    const act = Object.hasOwn(ACTS, name) ? ACTS[name] : undefined
    if (id === undefined || act === undefined || (await visit.backOffice.findAccount(id)) === undefined)
      return 'not-found'
    const done = await act(visit, id, fields)
    if (typeof done === 'object' && 'goTo' in done) return done
    const known = await read(visit.backOffice, id)
    return done === 'not-found' || known === undefined ? 'not-found' : view(visit, known, done)
  },
})

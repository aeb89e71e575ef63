import { randomUUID } from 'node:crypto'
import type { BackOffice } from '@gateway/core'
import { accountId, type AccountId, type AccountWithBalance, type ApiKey } from '@gateway/core/accounts'
import type { ListedChange } from '@gateway/core/audit'
import type { ListedPrice } from '@gateway/core/credits'
import type { AccountFactor, User } from '@gateway/core/people'
import {
  Figures,
  Form,
  Hidden,
  Link,
  Main,
  Panel,
  Pill,
  ProblemSummary,
  Second,
  Table,
  TextField,
} from '../../components.tsx'
import { amount } from '../../format.ts'
import { nameOf } from '../../layout.tsx'
import { forOperators, type Answer, type OperatorVisit, type View } from '../../page.ts'
import { KeyTable } from '../settings/key-table.tsx'
import { accountChanges, type ChangeResult } from './account-changes.tsx'
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
  const found = await backOffice.queries.findAccount(id)
  if (found === undefined) return undefined
  const [keys, prices, users, subAccounts, second, changes] = await Promise.all([
    backOffice.queries.listApiKeys(id),
    backOffice.queries.listPrices(id),
    backOffice.queries.listUsers(id),
    backOffice.queries.listSubAccounts(found.account),
    backOffice.queries.showAccountFactor(id),
    backOffice.queries.listChanges({ account: id }, changesMax),
  ])
  return { found, keys, prices, users, subAccounts, second, changes }
}

/** Text field that shows the submitted value again after an error. */
interface ResubmittedFieldProps {
  readonly name: string
  readonly label: string
  readonly hint: string
  readonly kept?: string
}

function view(
  { operator, now }: OperatorVisit,
  known: Known,
  { notice, problems = {}, fields }: ChangeResult = {},
): View {
  const { found, keys, prices, users, subAccounts, second, changes } = known
  const { account, balance } = found
  const { id, locked, parent } = account
  const to = `/operator/accounts/${id}`
  const isAdmin = operator.role === 'admin'
  const ResubmittedField = ({ name, kept: initial = '', ...about }: ResubmittedFieldProps) => (
    <TextField {...about} name={name} value={fields?.text(name) ?? initial} problems={problems} />
  )
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
                parent === undefined ? (
                  'none (this is a main account)'
                ) : (
                  <Link to={`/operator/accounts/${parent}`}>{parent}</Link>
                ),
              ],
              ['Requests a second', account.requestsPerSecond ?? 'no limit'],
              ['Recipients a second', account.recipientsPerSecond ?? 'no limit'],
            ]}
          />
          <div class="actions">
            <Action act={locked ? 'unlock' : 'lock'}>{locked ? 'Unlock this account' : 'Lock this account'}</Action>
            <Action act="act-as">View its pages</Action>
            {isAdmin && !locked && <Action act="link">Make a one-time sign-in link</Action>}
          </div>
          <p class="hint">
            Viewing its pages shows what its owner sees, message texts too, for at most half an hour. You cannot change
            anything there, and the visit is recorded in the audit log. A locked account can look things up but cannot
            send. Its waiting messages end as not sent, and their credits are returned.
          </p>
        </Panel>
        {isAdmin && (
          <Panel title="Add or take credits">
            <Form to={to}>
              <Hidden name="act" value="top-up" />
              <Hidden name="operation" value={randomUUID()} />
              <ResubmittedField
                name="amount"
                label="Credits"
                hint="With at most one decimal. A negative amount takes credits"
              />
              <ResubmittedField name="why" label="Reason" hint="Shown in the statement of the account" />
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
            caption="Prices per message part that apply to this account only"
            rows={prices}
            empty="The general prices apply to this account."
            columns={[
              { head: 'Numbers that begin with', cell: ({ prefix }) => (prefix === '' ? 'anything else' : prefix) },
              { head: 'Credits', cell: ({ price }) => amount(price), number: true },
            ]}
          />
          {isAdmin && (
            <Form to={to}>
              <Hidden name="act" value="price" />
              <ResubmittedField
                name="prefix"
                label="Numbers that begin with"
                hint="Digits. Leave it empty for all other numbers"
              />
              <ResubmittedField
                name="price"
                label="Credits for one part"
                hint="Leave it empty to remove the price: the general price applies again"
              />
              <Second>Set the price</Second>
            </Form>
          )}
        </Panel>
        {isAdmin && (
          <Panel title="Limits">
            <Form to={to}>
              <Hidden name="act" value="limits" />
              <ResubmittedField
                name="requests"
                label="Requests a second"
                hint="All interfaces together. Leave it empty for no limit"
                kept={String(account.requestsPerSecond ?? '')}
              />
              <ResubmittedField
                name="recipients"
                label="Recipients a second"
                hint="Leave it empty for no limit"
                kept={String(account.recipientsPerSecond ?? '')}
              />
              <Second>Set the limits</Second>
            </Form>
          </Panel>
        )}
        <Panel title="Users">
          <Table
            caption="People who sign in for this account"
            rows={users}
            empty="There are no users. Owners invite people in the portal, operators by gateway account user."
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
            {second.isRequired ? 'It is required.' : 'It is not required.'}
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
        <Panel title="Changes">
          <Changes of={changes} empty="No operator has changed this account." />
        </Panel>
      </>
    ),
  }
}

/**
 * `/operator/accounts/<id>`: shows and changes the balance, keys, prices, users and limits of an account, and lists its
 * changes.
 */
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
    const act = Object.hasOwn(accountChanges, name) ? accountChanges[name] : undefined
    if (id === undefined || act === undefined || (await visit.backOffice.queries.findAccount(id)) === undefined)
      return 'not-found'
    const done = await act(visit, id, fields)
    if (typeof done === 'object' && 'goTo' in done) return done
    const known = await read(visit.backOffice, id)
    return done === 'not-found' || known === undefined ? 'not-found' : view(visit, known, done)
  },
})

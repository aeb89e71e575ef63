import { randomUUID } from 'node:crypto'
import type { AccountWithBalance, ApiKey } from '@gateway/core/accounts'
import type { ListedChange } from '@gateway/core/audit'
import type { ListedPrice } from '@gateway/core/credits'
import type { AccountFactor, User } from '@gateway/core/people'
import type { Instant } from '@gateway/core/time'
import { Figures, Form, Hidden, Link, Main, Panel, Second, Table, TextField } from '../../components.tsx'
import { amount } from '../../format.ts'
import { KeyTable } from '../settings/key-table.tsx'
import type { ChangeResult } from './account-changes.tsx'

/** Facts of an account that its page shows. */
export interface Known {
  readonly found: AccountWithBalance
  readonly keys: readonly ApiKey[]
  readonly prices: readonly ListedPrice[]
  readonly users: readonly User[]
  readonly subAccounts: readonly AccountWithBalance[]
  readonly second: AccountFactor
  readonly changes: readonly ListedChange[]
}

/** Properties of every panel: the account, the rights of the operator, and the form that was submitted last. */
export interface PanelProps extends Pick<ChangeResult, 'problems' | 'fields'> {
  readonly known: Known
  readonly isAdmin: boolean
  readonly now: Instant
}

export const pathOf = ({ found }: Known): string => `/operator/accounts/${found.account.id}`

/** Text field that shows the submitted value again after an error. */
interface ResubmittedFieldProps extends PanelProps {
  readonly name: string
  readonly label: string
  readonly hint: string
  /** Value before the first submission. */
  readonly stored?: string
}

const ResubmittedField = ({ name, label, hint, stored = '', problems = {}, fields }: ResubmittedFieldProps) => (
  <TextField {...{ name, label, hint, problems }} value={fields?.text(name) ?? stored} />
)

interface ActionProps {
  readonly to: string
  readonly act: string
  readonly children: string
}

const Action = ({ to, act, children }: ActionProps) => (
  <Form to={to}>
    <Hidden name="act" value={act} />
    <Second>{children}</Second>
  </Form>
)

export const Facts = ({ known, isAdmin }: PanelProps) => {
  const { account, balance } = known.found
  const { locked, parent } = account
  const to = pathOf(known)
  return (
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
        <Action to={to} act={locked ? 'unlock' : 'lock'}>
          {locked ? 'Unlock this account' : 'Lock this account'}
        </Action>
        <Action to={to} act="act-as">
          View its pages
        </Action>
        {isAdmin && !locked && (
          <Action to={to} act="link">
            Make a one-time sign-in link
          </Action>
        )}
      </div>
      <p class="hint">
        Viewing its pages shows what its owner sees, message texts too, for at most half an hour. You cannot change
        anything there, and the visit is recorded in the audit log. A locked account can look things up but cannot send.
        Its waiting messages end as not sent, and their credits are returned.
      </p>
    </Panel>
  )
}

export const TopUp = (props: PanelProps) => (
  <Panel title="Add or take credits">
    <Form to={pathOf(props.known)}>
      <Hidden name="act" value="top-up" />
      <Hidden name="operation" value={randomUUID()} />
      <ResubmittedField
        {...props}
        name="amount"
        label="Credits"
        hint="With at most one decimal. A negative amount takes credits"
      />
      <ResubmittedField {...props} name="why" label="Reason" hint="Shown in the statement of the account" />
      <Main>Change the balance</Main>
    </Form>
  </Panel>
)

export const Keys = ({ known, isAdmin, now, problems = {} }: PanelProps) => {
  const to = pathOf(known)
  return (
    <Panel title="API keys">
      <KeyTable
        caption="Keys of this account"
        keys={known.keys}
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
  )
}

export const Prices = (props: PanelProps) => (
  <Panel title="Prices">
    <Table
      caption="Prices per message part that apply to this account only"
      rows={props.known.prices}
      empty="The general prices apply to this account."
      columns={[
        { head: 'Numbers that begin with', cell: ({ prefix }) => (prefix === '' ? 'anything else' : prefix) },
        { head: 'Credits', cell: ({ price }) => amount(price), number: true },
      ]}
    />
    {props.isAdmin && (
      <Form to={pathOf(props.known)}>
        <Hidden name="act" value="price" />
        <ResubmittedField
          {...props}
          name="prefix"
          label="Numbers that begin with"
          hint="Digits. Leave it empty for all other numbers"
        />
        <ResubmittedField
          {...props}
          name="price"
          label="Credits for one part"
          hint="Leave it empty to remove the price: the general price applies again"
        />
        <Second>Set the price</Second>
      </Form>
    )}
  </Panel>
)

export const Limits = (props: PanelProps) => {
  const { requestsPerSecond, recipientsPerSecond } = props.known.found.account
  return (
    <Panel title="Limits">
      <Form to={pathOf(props.known)}>
        <Hidden name="act" value="limits" />
        <ResubmittedField
          {...props}
          name="requests"
          label="Requests a second"
          hint="All interfaces together. Leave it empty for no limit"
          stored={String(requestsPerSecond ?? '')}
        />
        <ResubmittedField
          {...props}
          name="recipients"
          label="Recipients a second"
          hint="Leave it empty for no limit"
          stored={String(recipientsPerSecond ?? '')}
        />
        <Second>Set the limits</Second>
      </Form>
    </Panel>
  )
}

export const Users = ({ known }: PanelProps) => (
  <Panel title="Users">
    <Table
      caption="People who sign in for this account"
      rows={known.users}
      empty="There are no users. Owners invite people in the portal, operators by gateway account user."
      columns={[
        { head: 'E-mail', cell: ({ email }) => <span class="text">{email}</span> },
        { head: 'Role', cell: ({ role }) => role },
        { head: 'State', cell: (user) => (user.locked ? 'locked' : user.hasPassword ? 'open' : 'invited') },
        {
          head: 'Change',
          cell: (user) => (
            <Form to={pathOf(known)}>
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
)

export const AccountSecondFactor = ({ known, isAdmin }: PanelProps) => {
  const { factor, isRequired } = known.second
  const to = pathOf(known)
  return (
    <Panel title="Second factor">
      <p>
        {factor === undefined ? 'The account has none. ' : 'The account has one. '}
        {isRequired ? 'It is required.' : 'It is not required.'}
      </p>
      {isAdmin && (
        <div class="actions">
          <Action to={to} act={isRequired ? 'spare-factor' : 'require-factor'}>
            {isRequired ? 'Do not require it' : 'Require a second factor'}
          </Action>
          {factor !== undefined && (
            <Action to={to} act="reset-factor">
              Remove the second factor
            </Action>
          )}
        </div>
      )}
    </Panel>
  )
}

export const SubAccounts = ({ known: { subAccounts } }: PanelProps) => (
  <Panel title="Sub accounts">
    <Table
      caption="Accounts below this one"
      rows={subAccounts}
      empty=""
      columns={[
        {
          head: 'Id',
          cell: ({ account: { id } }) => <Link to={`/operator/accounts/${id}`}>{id}</Link>,
          number: true,
        },
        { head: 'Login', cell: ({ account }) => account.login },
        { head: 'Credits', cell: ({ balance }) => amount(balance), number: true },
      ]}
    />
  </Panel>
)

import type { BackOffice } from '@gateway/core'
import { accountId, type AccountId } from '@gateway/core/accounts'
import { Panel, Pill, ProblemSummary } from '../../components.tsx'
import { nameOf } from '../../layout.tsx'
import { forOperators, type Answer, type OperatorVisit, type View } from '../../page.ts'
import { accountChanges, type ChangeResult } from './account-changes.tsx'
import {
  AccountSecondFactor,
  Facts,
  Keys,
  type Known,
  Limits,
  type PanelProps,
  Prices,
  SubAccounts,
  TopUp,
  Users,
} from './account-panels.tsx'
import { Changes } from './audit.tsx'

const changesMax = 10

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

function view(
  { operator, now }: OperatorVisit,
  known: Known,
  { notice, problems = {}, fields }: ChangeResult = {},
): View {
  const { account } = known.found
  const isAdmin = operator.role === 'admin'
  const props: PanelProps = { known, isAdmin, now, problems, ...(fields && { fields }) }
  return {
    title: `Account ${account.id}`,
    place: 'operator-accounts',
    status: Object.keys(problems).length > 0 ? 422 : 200,
    main: (
      <>
        {notice}
        <ProblemSummary problems={problems} />
        <h1>
          Account {account.id}, {nameOf(account)}{' '}
          {account.locked ? <Pill tone="bad">locked</Pill> : <Pill tone="good">open</Pill>}
        </h1>
        <Facts {...props} />
        {isAdmin && <TopUp {...props} />}
        <Keys {...props} />
        <Prices {...props} />
        {isAdmin && <Limits {...props} />}
        <Users {...props} />
        <AccountSecondFactor {...props} />
        {known.subAccounts.length > 0 && <SubAccounts {...props} />}
        <Panel title="Changes">
          <Changes
            of={known.changes}
            logins={new Map([[account.id, account.login]])}
            empty="No operator has changed this account."
          />
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

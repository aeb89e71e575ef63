import type { AccountWithBalance } from '@gateway/core/accounts'
import { readIdempotencyKey } from '@gateway/core/client-requests'
import { Choice, Form, Hidden, Main, Notice, Panel, Pill, ProblemSummary, Table, TextField } from '../../components.tsx'
import { newFormKey, type Fields, type Problems } from '../../forms.ts'
import { amount } from '../../format.ts'
import { nameOf } from '../../layout.tsx'
import { forHolders, type Answer, type HolderVisit, type View } from '../../page.ts'
import { transferWords } from '../../words.ts'

interface EnteredTransfer {
  readonly from: string
  readonly to: string
  readonly quantity: string
}

async function view(
  visit: HolderVisit,
  entered: Partial<EnteredTransfer> = {},
  problems: Problems = {},
): Promise<View> {
  const { gateway, account, balance, query } = visit
  const subs = await gateway.queries.listSubAccounts(account)
  const family: readonly AccountWithBalance[] = [{ account, balance }, ...subs]
  const options = family.map(({ account: one }) => [String(one.id), `${nameOf(one)} (${one.id})`] as const)
  const [first, second] = options
  return {
    title: 'Accounts',
    place: 'accounts',
    status: Object.keys(problems).length > 0 ? 422 : 200,
    main: (
      <>
        <h1>Accounts</h1>
        {query.get('done') === 'moved' && <Notice>The credits were moved.</Notice>}
        <ProblemSummary problems={problems} />
        <Panel>
          <Table
            caption="Your account and its sub accounts"
            rows={family}
            empty=""
            columns={[
              { head: 'Account', cell: ({ account: one }) => <span class="text">{nameOf(one)}</span> },
              { head: 'Number', number: true, cell: ({ account: one }) => String(one.id) },
              { head: 'Login', cell: ({ account: one }) => <span class="text">{one.login}</span> },
              { head: 'Credits', number: true, cell: ({ balance: ownBalance }) => amount(ownBalance) },
              {
                head: 'State',
                cell: ({ account: one }) =>
                  one.locked ? <Pill tone="bad">locked</Pill> : <Pill tone="good">open</Pill>,
              },
            ]}
          />
        </Panel>
        {subs.length === 0 ? (
          <p class="soft">You have no sub accounts. The operator of the gateway opens them.</p>
        ) : (
          <Panel title="Move credits">
            <Form to="/accounts">
              <Hidden name="key" value={newFormKey()} />
              <Choice
                name="from"
                label="From"
                options={options}
                value={entered.from ?? first?.[0] ?? ''}
                problems={problems}
              />
              <Choice
                name="to"
                label="To"
                options={options}
                value={entered.to ?? second?.[0] ?? ''}
                problems={problems}
              />
              <TextField name="quantity" label="Whole credits" value={entered.quantity ?? ''} problems={problems} />
              <Main>Move credits</Main>
            </Form>
          </Panel>
        )}
      </>
    ),
  }
}

/**
 * `/accounts`: lists a main account and its sub accounts, and moves credits between them, at most once for each form.
 */
export const accounts = forHolders({
  path: '/accounts',
  show: (visit) => (visit.account.parent === undefined ? view(visit) : 'not-found'),
  changes: 'transferCredits',
  submit: (visit, fields) => (visit.account.parent === undefined ? transfer(visit, fields) : 'not-found'),
})

async function transfer(visit: HolderVisit, fields: Fields): Promise<Answer> {
  const { gateway, account } = visit
  const key = readIdempotencyKey(fields.text('key'))
  const entered = { from: fields.text('from'), to: fields.text('to'), quantity: fields.trimmed('quantity') }
  const [from, to, quantity] = [fields.number('from'), fields.number('to'), fields.number('quantity')]
  const transfer = { from: from ?? NaN, to: to ?? NaN, quantity: quantity ?? NaN }
  const moved = await gateway.commands.transferCredits(account, transfer, key === 'unusable' ? undefined : key)
  if (moved === 'done') return { goTo: '/accounts?done=moved' }
  const field = moved === 'invalid-from-account' ? 'from' : /to-account|same/.test(moved) ? 'to' : 'quantity'
  return view(visit, entered, { [field]: transferWords[moved] })
}

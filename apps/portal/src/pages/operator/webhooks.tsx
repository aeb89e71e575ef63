import { webhookId, type Webhook } from '@gateway/core/webhooks'
import { Form, Hidden, Notice, Panel, Pill, Second, Table, When } from '../../components.tsx'
import { count } from '../../format.ts'
import { forOperators, type OperatorVisit, type View } from '../../page.ts'
import { AccountLink, loginsOf } from './account-link.tsx'

const shownMax = 100

const order = ({ failingSince, state }: Webhook): number => {
  if (failingSince !== undefined && state === 'active') return 0
  return state === 'active' ? 2 : 1
}

async function view({ backOffice }: OperatorVisit, notice?: View['main']): Promise<View> {
  const all = [...(await backOffice.queries.listWebhooks(undefined))].sort((a, b) => order(a) - order(b) || a.id - b.id)
  const logins = await loginsOf(backOffice, all.slice(0, shownMax))
  return {
    title: 'Webhooks',
    place: 'webhooks',
    main: (
      <>
        {notice}
        <h1>Webhooks</h1>
        <Panel>
          <Table
            caption="Endpoints of all accounts, failing endpoints first"
            rows={all.slice(0, shownMax)}
            empty="No account has an endpoint."
            columns={[
              { head: 'Id', cell: ({ id }) => id, number: true },
              {
                head: 'Account',
                cell: ({ account }) => <AccountLink id={account} logins={logins} />,
              },
              { head: 'Address', cell: ({ url }) => url },
              {
                head: 'State',
                cell: ({ state, failingSince }) => (
                  <Pill tone={failingSince !== undefined ? 'bad' : state === 'active' ? 'good' : 'wait'}>
                    {failingSince !== undefined ? `${state}, fails` : state}
                  </Pill>
                ),
              },
              {
                head: 'Failing since',
                cell: ({ failingSince }) => failingSince !== undefined && <When at={failingSince} />,
              },
              {
                head: 'Change',
                cell: ({ id, state }) => (
                  <Form to="/operator/webhooks">
                    <Hidden name="webhook" value={String(id)} />
                    <Hidden name="act" value={state === 'active' ? 'test' : 'resume'} />
                    <Second>{state === 'active' ? `Test ${id}` : `Resume ${id}`}</Second>
                  </Form>
                ),
              },
            ]}
          />
          {all.length > shownMax && (
            <p class="hint">
              These are {count(shownMax)} of {count(all.length)}.
            </p>
          )}
        </Panel>
      </>
    ),
  }
}

/** `/operator/webhooks`: lists the endpoints of all accounts, tests them, and resumes paused ones. */
export const webhooks = forOperators({
  path: '/operator/webhooks',
  show: (visit) => view(visit),
  async submit(visit, fields) {
    const id = webhookId(Number(fields.text('webhook')))
    if (id === undefined) return 'not-found'
    if (fields.text('act') === 'resume') {
      const changed = await visit.backOffice.commands.changeWebhook(id, { state: 'active' })
      if (typeof changed === 'string') return 'not-found'
      return view(visit, <Notice>The waiting events of webhook {id} are pushed now.</Notice>)
    }
    if ((await visit.backOffice.commands.testWebhook(id)) === 'no-such-webhook') return 'not-found'
    return view(visit, <Notice>A test event is on its way to webhook {id}.</Notice>)
  },
})

import { accountId } from '@gateway/core/accounts'
import { parseSenderAddress, readWrittenNumber, type Msisdn } from '@gateway/core/messages'
import {
  explainRoute,
  overflowOf,
  type OverflowAfter,
  type PublishedRoute,
  type UnmetCondition,
} from '@gateway/core/routes'
import { Link, Notice, Panel, Second, Table, TextField } from '../../components.tsx'
import { count } from '../../format.ts'
import { forOperators } from '../../page.ts'
import { NUMBER_PROBLEM } from '../../words.ts'
import { ReadAs } from '../../written-number.tsx'

const UNMET: Readonly<Record<UnmetCondition, string>> = {
  prefix: 'the number has another prefix',
  account: 'the route is for other accounts',
  sender: 'the route is for other senders',
}

const carriersOf = ({ carriers }: PublishedRoute): string =>
  carriers
    .toSorted((a, b) => a.priority - b.priority)
    .map(({ carrier, priority, weight }) => `${carrier} (priority ${priority}, weight ${weight})`)
    .join(', ')

const secondsText = (after: OverflowAfter): string => (after === 'never' ? 'never' : `after ${count(after)} s`)

/**
 * Returns the delay after which messages go to carriers of the next priority because all carriers of this one are full;
 * '' if there is no next priority.
 */
function overflowText({ carriers, overflow }: PublishedRoute): string {
  if (new Set(carriers.map(({ priority }) => priority)).size < 2) return ''
  const { single, bulk } = overflowOf({ ...(overflow && { overflow }) })
  return `single sends ${secondsText(single)}, bulk ${secondsText(bulk)}`
}

const anyOr = (values: readonly unknown[]): string => {
  const shown = values.slice(0, 8).join(', ')
  return values.length === 0 ? 'any' : `${shown}${values.length > 8 ? ' …' : ''}`
}

interface Probe {
  readonly to: Msisdn
  readonly account: string
  readonly sender: string
}

/** Shows the route that a message would take, and why the other routes do not fit. */
function Answer({ routes, probe }: { readonly routes: readonly PublishedRoute[]; readonly probe: Probe }) {
  const { to } = probe
  const account = accountId(Number(probe.account)) ?? (0 as NonNullable<ReturnType<typeof accountId>>)
  const from = parseSenderAddress(probe.sender)
  const tried = explainRoute(routes, { account, from, to })
  const chosen = tried.find(({ unmet }) => unmet.length === 0)?.route
  return (
    <>
      {chosen === undefined ? (
        <Notice tone={routes.length === 0 ? 'good' : 'bad'}>
          {routes.length === 0
            ? 'There are no routes: any carrier can take the message.'
            : 'No route fits: the message waits until there is one.'}
        </Notice>
      ) : (
        <Notice>
          <strong>
            A message to {to} takes the route {chosen.name}
          </strong>{' '}
          to {carriersOf(chosen)}.
        </Notice>
      )}
      <Panel>
        <Table
          caption="Routes in the order in which they are tried"
          rows={tried}
          empty="There are no routes."
          columns={[
            { head: 'Route', cell: ({ route }) => route.name },
            {
              head: 'Why',
              cell: ({ unmet }) =>
                unmet.length === 0 ? 'all conditions are met' : unmet.map((one) => UNMET[one]).join('; '),
            },
          ]}
        />
      </Panel>
    </>
  )
}

/** `/operator/routes`: shows which route a number would take, and why. */
export const routes = forOperators({
  path: '/operator/routes',
  async show({ backOffice, query }) {
    const parameter = (name: string) => (query.get(name) ?? '').trim().slice(0, 30)
    const [number, account, sender] = [parameter('number'), parameter('account'), parameter('sender')]
    const { number: to, unread } = readWrittenNumber(number)
    const all = await backOffice.queries.listRoutes()
    const problems = number !== '' && to === undefined ? { number: NUMBER_PROBLEM[unread] } : {}
    return {
      title: 'Routes',
      place: 'carriers',
      status: to === undefined && number !== '' ? 422 : 200,
      main: (
        <>
          <h1>Where would this number go?</h1>
          <form method="get" class="search">
            <TextField name="number" label="Number" type="search" value={number} problems={problems} />
            <TextField name="account" label="Account" hint="Its id, if it matters" type="search" value={account} />
            <TextField name="sender" label="Sender" hint="If it matters" type="search" value={sender} />
            <Second>Ask</Second>
          </form>
          <ReadAs written={number} />
          {to !== undefined && <Answer routes={all} probe={{ to, account, sender }} />}
          <Panel title="All routes">
            <Table
              caption="Routes in the order in which they are tried"
              rows={all}
              empty="There are no routes: any carrier can take any message. Routes are defined in the carriers file."
              columns={[
                { head: 'Route', cell: ({ name }) => name },
                { head: 'Numbers that begin with', cell: ({ prefixes }) => anyOr(prefixes) },
                { head: 'Accounts', cell: ({ accounts }) => anyOr(accounts) },
                { head: 'Senders', cell: ({ senders }) => anyOr(senders) },
                { head: 'Carriers', cell: carriersOf },
                { head: 'To the next priority if full', cell: overflowText },
              ]}
            />
          </Panel>
          <p>
            <Link to="/operator/carriers">Carriers</Link>
          </p>
        </>
      ),
    }
  },
})

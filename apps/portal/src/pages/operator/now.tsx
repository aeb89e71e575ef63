import type { AccountRate } from '@gateway/core/accounts'
import type { Promotion } from '@gateway/core/dispatch'
import type { RunningDispatcher, ReportedCarrier, WaitingRoute, WaitingWork } from '@gateway/core/fleet'
import { OUTCOME, stateOf, type OutcomeCode, type Traffic } from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import type { Webhook } from '@gateway/core/webhooks'
import { Figures, Link, Notice, Panel, Pill, Table, When } from '../../components.tsx'
import { count, counted } from '../../format.ts'
import { forOperators } from '../../page.ts'
import { AccountLink, loginsOf, type Logins } from './account-link.tsx'
import { carrierState } from './carriers.tsx'

const busiestMax = 8
const waitingMax = 8
/** Maximum number of accounts with waiting messages to read. */
const readMax = 5000
/** Seconds after which a due message counts as late. */
const lateSeconds = 60
/** Paused carriers are reported once messages have been due for this many seconds. */
const heldSeconds = 5

interface Waiting {
  readonly rows: readonly WaitingWork[]
  /** True if the queue has more accounts than were read. */
  readonly isCut: boolean
}

async function read(queue: AsyncIterable<WaitingWork>): Promise<Waiting> {
  const rows: WaitingWork[] = []
  for await (const row of queue) {
    if (rows.length === readMax) return { rows, isCut: true }
    rows.push(row)
  }
  return { rows, isCut: false }
}

/** Returns a sentence that a carrier is paused or drained, and how many messages wait. */
function heldText(carrier: string, reports: readonly ReportedCarrier[], waiting: readonly WaitingRoute[]): string {
  const mode = reports.find((one) => one.carrier === carrier && one.mode !== 'running')?.mode ?? 'paused'
  const due = waiting.reduce((sum, route) => sum + route.due, 0)
  return `The carrier ${carrier} is ${mode}, and ${counted(due, 'message')} ${due === 1 ? 'waits' : 'wait'}.`
}

function troubles(
  dispatchers: readonly RunningDispatcher[],
  carriers: readonly ReportedCarrier[],
  routes: readonly WaitingRoute[],
  webhooks: readonly Webhook[],
  promotions: readonly Promotion[],
  now: Instant,
): readonly string[] {
  const running = dispatchers.filter(({ overdue }) => !overdue)
  const bad = carriers.filter((one) => !one.isStale && carrierState(one).tone === 'bad')
  const heldCarriers = [
    ...new Set(carriers.filter((one) => !one.isStale && one.mode !== 'running').map(({ carrier }) => carrier)),
  ]
  const waiting = routes.filter(({ oldestDue }) => now - oldestDue > heldSeconds * 1000)
  const late = routes.filter(({ oldestDue }) => now - oldestDue > lateSeconds * 1000)
  const failing = webhooks.filter(({ failingSince, state }) => failingSince !== undefined && state === 'active')
  return [
    ...promotions.map(
      ({ inDoubt }) =>
        `${counted(inDoubt, 'message')} may already have been sent and wait for a decision: a database standby was promoted that may lack the last changes of the lost server. See "gateway failover status".`,
    ),
    ...(running.length === 0 ? ['No dispatcher runs: nothing is sent until one is started.'] : []),
    ...bad.map((one) => `The carrier ${one.carrier} is ${carrierState(one).word} at ${one.process.host}.`),
    ...(waiting.length === 0 ? [] : heldCarriers.map((carrier) => heldText(carrier, carriers, waiting))),
    ...late.map(
      ({ route, due, oldestDue }) =>
        `${counted(due, 'message')}${route === undefined ? '' : ` of the route ${route}`} wait, the oldest for ${counted(
          Math.round((now - oldestDue) / 60_000),
          'minute',
        )}.`,
    ),
    ...(failing.length > 0 ? [`${counted(failing.length, 'webhook')} failed lately.`] : []),
  ]
}

const mostDue = ({ rows }: Waiting): readonly WaitingWork[] =>
  rows
    .filter(({ due }) => due > 0)
    .toSorted(byDue)
    .slice(0, waitingMax)

const byDue = (a: WaitingWork, b: WaitingWork): number => b.due - a.due || a.account - b.account

interface CarrierTraffic {
  readonly carrier: string
  readonly delivered: number
  readonly underWay: number
  readonly failed: number
}

/** Sums today's messages by carrier and outcome. */
function trafficOf(rows: Traffic['byCarrier']): readonly CarrierTraffic[] {
  const carriers = [...new Set(rows.map(({ carrier }) => carrier))]
  return carriers.map((carrier) => {
    const ofCarrier = rows.filter((row) => row.carrier === carrier)
    const sum = (fits: (code: OutcomeCode) => boolean) =>
      ofCarrier.filter(({ code }) => fits(code)).reduce((all, { messages }) => all + messages, 0)
    const delivered = sum((code) => code === OUTCOME.delivered)
    const failed = sum((code) => stateOf(code) === 'failed')
    return { carrier: carrier ?? 'none', delivered, failed, underWay: sum(() => true) - delivered - failed }
  })
}

const Attention = ({ wrong }: { readonly wrong: readonly string[] }) => (
  <div id="wrong" data-live="">
    {wrong.length === 0 ? (
      <Notice>Nothing needs attention.</Notice>
    ) : (
      <Notice tone="bad">
        <h2>This needs attention</h2>
        <ul>
          {wrong.map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
      </Notice>
    )}
  </div>
)

interface WaitingProps {
  readonly queue: Waiting
  readonly routes: readonly WaitingRoute[]
  readonly dispatchers: readonly RunningDispatcher[]
  readonly logins: Logins
}

const WaitingMessages = ({ queue, routes, dispatchers, logins }: WaitingProps) => {
  const oldest = routes.map(({ oldestDue }) => oldestDue).toSorted((a, b) => a - b)[0]
  const sum = (of: (row: WaitingWork) => number) => queue.rows.reduce((all, row) => all + of(row), 0)
  return (
    <Panel title="Waiting messages" live="waits">
      <Figures
        of={[
          ['Due', count(sum(({ due }) => due))],
          ['Oldest due', oldest === undefined ? 'none' : <When at={oldest} />],
          ['Waiting for a retry', count(sum(({ postponed }) => postponed))],
          ['Scheduled', count(sum(({ scheduled }) => scheduled))],
          ['Dispatchers', count(dispatchers.filter(({ overdue }) => !overdue).length)],
        ]}
      />
      {queue.isCut && <p class="hint">Of the first {count(readMax)} accounts with waiting messages.</p>}
      <Table
        caption="Accounts with the most due messages"
        rows={mostDue(queue)}
        empty="Nothing is due. Messages that wait to be sent appear here by account."
        columns={[
          { head: 'Account', cell: ({ account }) => <AccountLink id={account} logins={logins} /> },
          { head: 'Lane', cell: ({ lane }) => lane },
          { head: 'Due', cell: ({ due }) => count(due), number: true },
          { head: 'Oldest', cell: ({ oldestDue }) => oldestDue !== undefined && <When at={oldestDue} /> },
        ]}
      />
    </Panel>
  )
}

const Carriers = ({ carriers }: { readonly carriers: readonly ReportedCarrier[] }) => (
  <Panel title="Carriers" live="carriers">
    <Table
      caption="Carriers of each dispatcher"
      rows={carriers}
      empty="No dispatcher reports a carrier: nothing is sent."
      columns={[
        {
          head: 'Carrier',
          cell: ({ carrier }) => <Link to={`/operator/carriers/${carrier}`}>{carrier}</Link>,
        },
        { head: 'Dispatcher', cell: ({ process }) => `${process.host} ${process.pid}` },
        {
          head: 'State',
          cell: (one) => <Pill tone={carrierState(one).tone}>{carrierState(one).word}</Pill>,
        },
        { head: 'In use', cell: ({ unanswered, window }) => `${count(unanswered)} of ${count(window)}` },
      ]}
    />
  </Panel>
)

const Today = ({ traffic, logins }: { readonly traffic: Traffic; readonly logins: Logins }) => (
  <Panel title="Today" live="traffic">
    <Table<CarrierTraffic>
      caption="Messages handed over today, by carrier"
      rows={trafficOf(traffic.byCarrier)}
      empty="Nothing was handed to a carrier today."
      columns={[
        { head: 'Carrier', cell: ({ carrier }) => carrier },
        { head: 'Delivered', number: true, cell: ({ delivered }) => count(delivered) },
        { head: 'Final state pending', number: true, cell: ({ underWay }) => count(underWay) },
        { head: 'Failed', number: true, cell: ({ failed }) => count(failed) },
      ]}
    />
    <Table<Traffic['busiest'][number]>
      caption="Accounts with the most messages today"
      rows={traffic.busiest}
      empty=""
      columns={[
        { head: 'Account', cell: ({ account }) => <AccountLink id={account} logins={logins} /> },
        { head: 'Messages', number: true, cell: ({ messages }) => count(messages) },
      ]}
    />
  </Panel>
)

const BusiestAccounts = ({ busy, logins }: { readonly busy: readonly AccountRate[]; readonly logins: Logins }) => (
  <Panel title="Busiest accounts" live="busiest">
    <Table<AccountRate>
      caption="Requests and messages a second, over the last ten seconds"
      rows={busy.slice(0, busiestMax)}
      empty="No account has sent a request in the last seconds."
      columns={[
        { head: 'Account', cell: ({ account }) => <AccountLink id={account} logins={logins} /> },
        { head: 'Requests', cell: ({ requests }) => requests.toFixed(1), number: true },
        { head: 'Messages', cell: ({ messages }) => messages.toFixed(1), number: true },
      ]}
    />
  </Panel>
)

/** `/operator`: shows what is running, what is waiting, and what needs attention. */
export const now = forOperators({
  path: '/operator',
  async show({ backOffice, now: at }) {
    const [dispatchers, carriers, routes, busy, webhooks, promotions, traffic, queue] = await Promise.all([
      backOffice.queries.listDispatchers(),
      backOffice.queries.listCarriers(),
      backOffice.queries.showRoutes(),
      backOffice.queries.listBusyAccounts(),
      backOffice.queries.listWebhooks(undefined),
      backOffice.queries.listPromotions(),
      backOffice.queries.showTraffic(busiestMax),
      read(backOffice.queries.showQueue()),
    ])
    const shown = [...mostDue(queue), ...traffic.busiest, ...busy.slice(0, busiestMax)]
    const logins = await loginsOf(backOffice, shown)
    const wrong = troubles(dispatchers, carriers, routes, webhooks, promotions, at)
    return {
      title: 'Now',
      place: 'now',
      live: true,
      main: (
        <>
          <h1>Now</h1>
          <Attention wrong={wrong} />
          <WaitingMessages {...{ queue, routes, dispatchers, logins }} />
          <Carriers carriers={carriers} />
          <Today traffic={traffic} logins={logins} />
          <BusiestAccounts busy={busy} logins={logins} />
        </>
      ),
    }
  },
})

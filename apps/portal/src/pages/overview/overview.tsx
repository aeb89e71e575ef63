import { mayHolder } from '@gateway/core'
import { credits, type Credits } from '@gateway/core/credits'
import { unreadMax } from '@gateway/core/inbox'
import type { LastSend } from '@gateway/core/messages'
import { gatewayDay, type GatewayDay } from '@gateway/core/time'
import type { Webhook } from '@gateway/core/webhooks'
import { Figures, Link, Notice, Panel, When } from '../../components.tsx'
import { amount, count, counted, day, percent } from '../../format.ts'
import { forHolders, type HolderVisit } from '../../page.ts'
import { MessageTable } from '../messages/message-table.tsx'
import { DailyChart, figuresOf, shownDays } from './daily-chart.tsx'

const latestMax = 8
/** Balance below which the account holder is warned. */
const lowCredits = credits(500)
/** Share of opt-outs of a send above which the account holder is warned. */
const highOptOuts = 0.02

const optOutsOf = ({ optedOut, messages }: LastSend): number => optedOut / messages

interface Found {
  readonly balance: Credits
  readonly webhooks: readonly Webhook[]
  readonly unread: number
  readonly last: LastSend | undefined
}

/** List of what needs the account holder's attention, one sentence each. */
const Attention = ({ balance, webhooks, unread, last }: Found) => {
  const failing = webhooks.filter(({ failingSince, state }) => failingSince !== undefined && state === 'active')
  return (
    <div id="attention" data-live="">
      {balance < lowCredits && (
        <Notice tone="wait">
          <strong>You have {amount(balance)} credits left.</strong> Messages are refused when they are used up. The
          operator of the gateway adds more.
        </Notice>
      )}
      {failing.length > 0 && (
        <Notice tone="wait">
          <strong>{counted(failing.length, 'webhook')} of yours did not answer.</strong> Their events are kept and
          pushed again. <Link to="/settings/webhooks">Webhooks</Link>
        </Notice>
      )}
      {last !== undefined && optOutsOf(last) > highOptOuts && (
        <Notice tone="wait">
          <strong>
            {percent(optOutsOf(last))} of {counted(last.messages, 'person', 'people')} opted out of your last send.
          </strong>{' '}
          Look at what you send to whom. <Link to="/opt-outs">People who opted out</Link>
        </Notice>
      )}
      {unread > 0 && (
        <Notice tone="idle">
          <strong>
            {unread === unreadMax ? 'At least ' : ''}
            {counted(unread, 'person', 'people')} wrote to you. Nobody has read their messages yet.
          </strong>{' '}
          <Link to="/inbox?show=unread">Read</Link>
        </Notice>
      )}
    </div>
  )
}

async function read({ gateway, account, now }: HolderVisit) {
  const today = gatewayDay(now)
  const [sums, latest, webhooks, scheduled, unread, last] = await Promise.all([
    gateway.queries.listDailySums(account, (today - shownDays + 1) as GatewayDay),
    gateway.queries.listSent(account, { limit: latestMax }),
    gateway.queries.listWebhooks(account),
    gateway.queries.listScheduled(account, { offset: 0, limit: 1 }),
    gateway.queries.countUnread(account),
    gateway.queries.lastSend(account),
  ])
  return { days: figuresOf(sums, today), latest, webhooks, scheduled, unread, last }
}

/** `/`: shows today's messages, the last 30 days, what is scheduled next, and what needs attention. */
export const overview = forHolders({
  path: '/',
  async show(visit) {
    const { balance, now } = visit
    const { days, latest, webhooks, scheduled, unread, last } = await read(visit)
    const today = days.at(-1)
    const [next] = scheduled.items
    return {
      title: 'Overview',
      place: 'overview',
      live: true,
      main: (
        <>
          <h1>Today</h1>
          <Attention {...{ balance, webhooks, unread, last }} />
          <Panel title={`Messages of ${day(now)}`} live="today">
            <Figures
              of={[
                ['Delivered', count(today?.delivered ?? 0)],
                ['On their way', count(today?.underWay ?? 0)],
                ['Failed', count(today?.failed ?? 0)],
                ['Unknown', count(today?.unknown ?? 0)],
                ['Scheduled', count(scheduled.total)],
              ]}
            />
            <p class="hint">Unknown: the carrier did not confirm whether it accepted them. They are not sent again.</p>
            {next !== undefined && (
              <p class="hint">
                The next scheduled message is sent at <When at={next.due} />:{' '}
                <Link to={`/messages/${next.id}`}>message {next.id}</Link>
              </p>
            )}
            {last !== undefined && (
              <p class="hint">
                Your last send to many, at <When at={last.accepted} />: {percent(optOutsOf(last))} of{' '}
                {counted(last.messages, 'person', 'people')} opted out.
              </p>
            )}
          </Panel>
          <Panel title={`The last ${shownDays} days`}>
            <DailyChart days={days} />
          </Panel>
          <Panel live="latest">
            <MessageTable
              caption="Latest messages"
              messages={latest.messages}
              now={now}
              empty="You have not sent anything yet. Messages that you send appear here, and you can watch them arrive."
            />
            {latest.more && (
              <p class="hint">
                <Link to="/messages">All messages</Link>
              </p>
            )}
          </Panel>
          {mayHolder(visit.role, 'sendMessages') && (
            <div class="actions">
              <Link class="button" to="/send">
                Send messages
              </Link>
            </div>
          )}
        </>
      ),
    }
  },
})

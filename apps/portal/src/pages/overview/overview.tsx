import { countedMax, credits, OUTCOME, plus, stateOf, type SentCount } from '@gateway/core'
import { Figures, Link, Notice, Panel } from '../../components.tsx'
import { amount, count, counted, day, startOfDay } from '../../format.ts'
import { forHolders } from '../../page.ts'
import { MessageTable } from '../messages/message-table.tsx'

const latestMax = 8
/** Fewer credits than this need attention. */
const lowCredits = credits(500)

interface Today {
  readonly delivered: number
  readonly underWay: number
  readonly waiting: number
  readonly unknown: number
  readonly failed: number
  readonly all: number
}

function today(counts: readonly SentCount[]): Today {
  const sum = (fits: (code: SentCount['code']) => boolean): number =>
    counts.filter(({ code }) => fits(code)).reduce((all, { messages }) => all + messages, 0)
  return {
    delivered: sum((code) => code === OUTCOME.delivered),
    underWay: sum((code) => code === OUTCOME.sent || code === OUTCOME.underWay),
    waiting: sum((code) => code === undefined),
    unknown: sum((code) => code === OUTCOME.unknown),
    failed: sum((code) => code !== undefined && stateOf(code) === 'failed'),
    all: sum(() => true),
  }
}

/** `/`: what there is today, and what needs attention. */
export const overview = forHolders({
  path: '/',
  async show({ gateway, account, balance, now }) {
    const [counts, latest, webhooks] = await Promise.all([
      gateway.countSent(account, startOfDay(now)),
      gateway.listSent(account, { limit: latestMax }),
      gateway.listWebhooks(account),
    ])
    const figures = today(counts)
    const spent = counts.map(({ cost }) => cost).reduce(plus, credits(0))
    const failing = webhooks.filter(({ failingSince, state }) => failingSince !== undefined && state === 'active')
    return {
      title: 'Overview',
      place: 'overview',
      live: true,
      main: (
        <>
          <h1>Today</h1>
          {balance < lowCredits && (
            <Notice tone="wait">
              <strong>You have {amount(balance)} credits left.</strong> Messages are refused when they are used up. The
              operator of the gateway adds more.
            </Notice>
          )}
          {failing.length > 0 && (
            <Notice tone="wait">
              <strong>{counted(failing.length, 'webhook')} of yours did not answer.</strong> What they miss is kept and
              tried again.
            </Notice>
          )}
          <Panel title={`Messages of ${day(now)}`} live="today">
            <Figures
              of={[
                ['Delivered', count(figures.delivered)],
                ['On their way', count(figures.underWay + figures.waiting)],
                ['Failed', count(figures.failed)],
                ['Unknown', count(figures.unknown)],
                ['Spent', amount(spent)],
              ]}
            />
            <p class="hint">
              {figures.all === countedMax ? `Of the latest ${count(countedMax)} messages of today. ` : ''}
              Unknown: nobody can tell whether the carrier took them. They are not sent again.
            </p>
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
          <div class="actions">
            <Link class="button" to="/send">
              Send messages
            </Link>
          </div>
        </>
      ),
    }
  },
})

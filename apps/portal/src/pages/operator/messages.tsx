import {
  parseMessageId,
  readReference,
  readSoughtNumber,
  tracedCredits,
  whyWaiting,
  type FoundMessage,
  type MessageTrace,
} from '@gateway/core/messages'
import { Figures, Link, Panel, Second, Table, TextField, When } from '../../components.tsx'
import { amount, count, creditFigures } from '../../format.ts'
import { forOperators } from '../../page.ts'
import { ReadAs } from '../../written-number.tsx'
import { Story } from '../messages/message.tsx'
import { AccountLink, loginsOf } from './account-link.tsx'

const pageSize = 25

/** `/operator/messages`: finds messages of all accounts by number, id or reference. */
export const operatorMessages = forOperators({
  path: '/operator/messages',
  async show({ backOffice, query }) {
    const search = (query.get('q') ?? '').trim().slice(0, 100)
    const id = parseMessageId(search)
    if (id !== undefined && (await backOffice.queries.explainMessage(id)) !== undefined)
      return { goTo: `/operator/messages/${id}` }
    const { number } = readSoughtNumber(search)
    const reference = readReference(search)
    const by = number === undefined ? { reference: reference === 'unusable' ? undefined : reference } : { number }
    const isSearch = Object.values(by).some((one) => one !== undefined)
    const found = isSearch
      ? await backOffice.queries.findMessages({ ...by, limit: pageSize } as Parameters<
          typeof backOffice.queries.findMessages
        >[0])
      : undefined
    const { messages, more } =
      found === undefined || found === 'no-such-message' ? { messages: [], more: false } : found
    const logins = await loginsOf(backOffice, messages)
    return {
      title: 'Messages',
      place: 'operator-messages',
      main: (
        <>
          <h1>Messages</h1>
          <form method="get" class="search" role="search">
            <TextField
              name="q"
              label="Search"
              hint="A number, the id of a message, or a reference, of all accounts"
              type="search"
              value={search}
            />
            <Second>Search</Second>
          </form>
          <Panel>
            <ReadAs written={search} />
            <Table<FoundMessage>
              caption="Messages found, the latest first"
              rows={messages}
              empty={search === '' ? 'Search for a message to see its history.' : `Nothing was found for ${search}.`}
              columns={[
                { head: 'Id', cell: (one) => <Link to={`/operator/messages/${one.id}`}>{one.id}</Link>, number: true },
                {
                  head: 'Account',
                  cell: ({ account }) => <AccountLink id={account} logins={logins} />,
                },
                { head: 'To', cell: ({ number: recipient }) => recipient },
                { head: 'When', cell: ({ due }) => <When at={due} /> },
                { head: 'Net credits', cell: (one) => amount(tracedCredits(one).net), number: true },
                { head: 'Where it is', cell: ({ place }) => place.place },
              ]}
            />
            {more && <p class="hint">These are the latest {count(pageSize)}. "gateway message find" lists all.</p>}
          </Panel>
        </>
      ),
    }
  },
})

const PLACE: Readonly<Record<MessageTrace['place']['place'], string>> = {
  scheduled: 'waits for its time',
  queue: 'waits for a dispatcher',
  'in-doubt': 'in doubt: it may have been submitted before a database server was lost; see gateway failover status',
  postponed: 'waits for another try',
  claimed: 'a dispatcher has it',
  decided: 'has an outcome',
  nowhere: 'nowhere: a defect, or the database was changed by hand',
}

/**
 * Returns the price that the carrier named for the message, and the sums of its send by currency if the send has
 * several messages. Only operators see them.
 */
function priceFigures({ place, send }: MessageTrace): readonly (readonly [string, string])[] {
  const price = place.place === 'decided' ? place.carrierPrice : undefined
  const own = price === undefined ? [] : [['Price of the carrier', `${price.amount} ${price.currency}`] as const]
  if (send.messages === 1) return own
  const sums = send.carrierPrices.map(
    ({ amount, currency, messages }) =>
      [`Prices of the send in ${currency}`, `${amount} ${currency} for ${count(messages)} messages`] as const,
  )
  return [...own, ...sums]
}

/** Returns the SMPP bind by which a customer submitted the message, if there is one. */
const bindFigures = ({ bind }: MessageTrace): readonly (readonly [string, string])[] =>
  bind === undefined
    ? []
    : [['SMPP bind', `${bind.systemId ?? `removed credential ${bind.credential}`} ${bind.remote ?? ''}`]]

/** `/operator/messages/<id>`: shows the history of a message of any account, without its text. */
export const operatorMessage = forOperators({
  path: '/operator/messages/:id',
  async show({ backOffice, gateway, parameters }) {
    const id = parseMessageId(parameters.id ?? '')
    const trace = id === undefined ? undefined : await backOffice.queries.explainMessage(id)
    const holder = trace && (await backOffice.queries.findAccount(trace.account))
    const sentMessage = trace && holder && (await gateway.queries.showSent(holder.account, trace.id))
    if (trace === undefined || holder === undefined || sentMessage === undefined) return 'not-found'
    const { place } = trace
    const waiting = whyWaiting(trace, await backOffice.queries.listCarriers())
    return {
      title: `Message ${trace.id}`,
      place: 'operator-messages',
      live: place.place !== 'decided',
      main: (
        <>
          <h1>
            Message {trace.id} to {trace.number}
          </h1>
          <Panel live="where">
            <Figures
              of={[
                [
                  'Account',
                  <AccountLink id={trace.account} logins={new Map([[trace.account, holder.account.login]])} />,
                ],
                ['Where it is', PLACE[place.place]],
                ['Reason for waiting', waiting?.reason.replaceAll('-', ' ') ?? 'it is not waiting'],
                ['Route', trace.route?.name ?? 'none'],
                ['Carrier', ('carrier' in place ? place.carrier : undefined) ?? 'none yet'],
                ['Id at the carrier', (place.place === 'decided' ? place.reference : undefined) ?? 'none'],
                ...bindFigures(trace),
                ['Temporarily refused', `${count(trace.refusedForNow)} times`],
                ...creditFigures(tracedCredits(trace)),
                ...priceFigures(trace),
              ]}
            />
          </Panel>
          <Panel title="What happened" live="story">
            <Story of={sentMessage} />
          </Panel>
        </>
      ),
    }
  },
})

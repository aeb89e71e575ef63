import type { BulkSend, BulkSendId } from '@gateway/core/bulk-sends'
import { credits } from '@gateway/core/credits'
import { sentCredits, type SentCredits } from '@gateway/core/messages'
import { Bar, Link, Panel, Pill, Table, When } from '../../components.tsx'
import { amount, count } from '../../format.ts'
import { forHolders } from '../../page.ts'
import type { Tone } from '../../words.ts'

const pageSize = 25
const textMax = 60

export const shortText = (text: string): string => {
  const characters = Array.from(text.replace(/\s+/g, ' '))
  return characters.length > textMax ? `${characters.slice(0, textMax).join('')}…` : characters.join('')
}

/** Returns the state of a send, which also depends on the credits charged and returned. */
function stateOf(send: BulkSend, { charged, net }: SentCredits, now: number): readonly [Tone, string] {
  const { state, callsEnded, calls, scheduled, accepted } = send
  if (state === 'stopping') return ['wait', 'being stopped']
  if (state !== 'ended') return ['wait', `sending, ${Math.floor((100 * callsEnded) / calls)} %`]
  if (send.isStopped && send.failedOver !== undefined) return ['bad', 'stopped by a failover']
  if (accepted > 0 && charged > 0 && net === 0) return ['bad', 'nothing sent']
  if (send.isStopped) return ['bad', 'stopped']
  if (accepted === 0) return ['bad', 'nothing sent']
  return scheduled !== undefined && scheduled > now ? ['idle', 'scheduled'] : ['good', 'done']
}

/** Bar that shows how much of a send has been accepted. */
export const AcceptedBar = ({ send: { accepted, refused, recipients } }: { readonly send: BulkSend }) => (
  <Bar
    of={[
      { tone: 'good', word: 'accepted', value: accepted },
      { tone: 'bad', word: 'not accepted', value: refused },
      { tone: 'idle', word: 'remaining', value: recipients - accepted - refused },
    ]}
  />
)

/** `/sends`: lists the sends from the portal, the latest first. `?before=` continues the list. */
export const sends = forHolders({
  path: '/sends',
  async show({ gateway, account, now, query }) {
    const beforeText = query.get('before') ?? ''
    const before = /^[1-9][0-9]{0,14}$/.test(beforeText) ? (Number(beforeText) as BulkSendId) : undefined
    const found = await gateway.queries.listBulkSends(account, { before, limit: pageSize + 1 })
    const shown = found.slice(0, pageSize)
    const last = shown.at(-1)
    const returned = await gateway.queries.returnedCredits(
      account,
      shown.map(({ id }) => id),
    )
    const spentOn = ({ id, cost }: BulkSend) => sentCredits(cost, returned.get(id) ?? credits(0))
    return {
      title: 'Sends',
      place: 'sends',
      live: before === undefined && shown.some(({ state }) => state !== 'ended'),
      main: (
        <>
          <h1>Sends</h1>
          <Panel live="sends">
            <Table
              caption={before === undefined ? 'Sends, the latest first' : 'Older'}
              rows={shown}
              empty={
                <>
                  Sends from the portal are listed here with their progress and their results.{' '}
                  <Link to="/send">Send messages</Link>
                </>
              }
              columns={[
                { head: 'Text', cell: ({ id, text }) => <Link to={`/send/${id}/sent`}>{shortText(text)}</Link> },
                {
                  head: 'When',
                  cell: ({ scheduled, started, created }) => <When at={scheduled ?? started ?? created} />,
                },
                { head: 'Numbers', number: true, cell: ({ recipients }) => count(recipients) },
                { head: 'Accepted', cell: (send) => <AcceptedBar send={send} /> },
                { head: 'Net credits', number: true, cell: (send) => amount(spentOn(send).net) },
                {
                  head: 'State',
                  cell: (send) => {
                    const [tone, word] = stateOf(send, spentOn(send), now)
                    return <Pill tone={tone}>{word}</Pill>
                  },
                },
              ]}
            />
            <p class="hint">
              Messages from an interface or from the inbox are among your <Link to="/messages">messages</Link>.
            </p>
          </Panel>
          <div class="actions">
            {before !== undefined && <Link to="/sends">Latest</Link>}
            {found.length > pageSize && last !== undefined && <Link to={`/sends?before=${last.id}`}>Older</Link>}
            <Link to="/drafts">Drafts</Link>
          </div>
        </>
      ),
    }
  },
})

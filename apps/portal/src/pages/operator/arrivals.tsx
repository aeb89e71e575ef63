import type { UnownedMessage } from '@gateway/core/inbox'
import { Panel, Table, When } from '../../components.tsx'
import { count } from '../../format.ts'
import { forOperators } from '../../page.ts'

const shownMax = 50

/** `/operator/arrivals`: lists received messages that belong to no account. */
export const arrivals = forOperators({
  path: '/operator/arrivals',
  async show({ backOffice }) {
    const rows: UnownedMessage[] = []
    for await (const one of backOffice.queries.listUnownedMessages()) {
      rows.push(one)
      if (rows.length > shownMax) break
    }
    return {
      title: 'Arrivals',
      place: 'arrivals',
      main: (
        <>
          <h1>Arrivals without an owner</h1>
          <p class="soft">
            These messages were sent to one of the gateway's numbers, but no account had written to the sender from that
            number. Later messages to a code belong to the account that the code is assigned to.
          </p>
          <Panel>
            <Table
              caption="Messages that belong to no account"
              rows={rows.slice(0, shownMax)}
              empty="There are none. Every received message belongs to an account."
              columns={[
                { head: 'From', cell: ({ from }) => from },
                { head: 'To', cell: ({ to }) => to ?? '' },
                { head: 'Carrier', cell: ({ carrier }) => carrier },
                { head: 'When', cell: ({ at }) => <When at={at} /> },
                { head: 'Text', cell: ({ text }) => <span class="text">{text}</span> },
              ]}
            />
            {rows.length > shownMax && (
              <p class="hint">These are {count(shownMax)}. "gateway arrivals list" lists all.</p>
            )}
          </Panel>
        </>
      ),
    }
  },
})

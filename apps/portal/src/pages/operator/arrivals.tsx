import type { UnownedMessage } from '@gateway/core/inbox'
import { Panel, Table, When } from '../../components.tsx'
import { count } from '../../format.ts'
import { forOperators } from '../../page.ts'

const shownMax = 50

/** `/operator/arrivals`: what people wrote that belongs to no account. */
export const arrivals = forOperators({
  path: '/operator/arrivals',
  async show({ backOffice }) {
    const rows: UnownedMessage[] = []
    for await (const one of backOffice.listUnownedMessages()) {
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
            People wrote these to a number of ours from which no account had written to them. A code that is assigned to
            an account has an owner from then on.
          </p>
          <Panel>
            <Table
              caption="Messages that belong to no account"
              rows={rows.slice(0, shownMax)}
              empty="There are none. Each message that came belongs to an account."
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

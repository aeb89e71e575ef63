import type { ShownBind, SmppCredential } from '@gateway/core/smpp-customers'
import { Figures, Link, Panel, Table, When, type Column } from '../../components.tsx'
import { count } from '../../format.ts'
import { forOperators } from '../../page.ts'
import { bindColumns, credentialColumns } from '../settings/smpp.tsx'

const shownMax = 100

const accountColumn: Column<{ readonly account: number }> = {
  head: 'Account',
  cell: ({ account }) => <Link to={`/operator/accounts/${account}`}>{account}</Link>,
  number: true,
}

const Rest = ({ all }: { readonly all: number }) =>
  all > shownMax && (
    <p class="hint">
      These are {count(shownMax)} of {count(all)}. "gateway smpp" lists all.
    </p>
  )

/** `/operator/smpp`: lists the SMPP binds and credentials of all accounts, and what waits for their clients. */
export const operatorSmpp = forOperators({
  path: '/operator/smpp',
  async show({ backOffice: { queries } }) {
    const [binds, credentials, waiting] = await Promise.all([
      queries.listSmppBinds(),
      queries.listSmppCredentials(),
      queries.smppWaiting(),
    ])
    const { receipts, replies, oldest } = waiting
    return {
      title: 'SMPP',
      place: 'operator-smpp',
      live: true,
      main: (
        <>
          <h1>SMPP</h1>
          <Panel live="waiting">
            <Figures
              of={[
                ['Binds', count(binds.length)],
                ['Receipts waiting', count(receipts)],
                ['Replies waiting', count(replies)],
                ['The oldest of them', oldest === undefined ? 'none' : <When at={oldest} />],
              ]}
            />
          </Panel>
          <Panel live="binds">
            <Table<ShownBind>
              caption="Binds now"
              rows={binds.slice(0, shownMax)}
              empty="No customer is bound."
              columns={[accountColumn, ...bindColumns]}
            />
            <Rest all={binds.length} />
          </Panel>
          <Panel>
            <Table<SmppCredential>
              caption="Credentials"
              rows={credentials.slice(0, shownMax)}
              empty='No account has a credential. "gateway smpp add" makes one.'
              columns={[
                { head: 'Id', cell: ({ id }) => String(id), number: true },
                accountColumn,
                { head: 'system_id', cell: ({ systemId }) => systemId },
                ...credentialColumns,
              ]}
            />
            <Rest all={credentials.length} />
            <p class="hint">"gateway smpp" adds and changes credentials, and prints the sheet for a customer.</p>
          </Panel>
        </>
      ),
    }
  },
})

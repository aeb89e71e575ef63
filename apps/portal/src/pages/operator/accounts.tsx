import { accountId } from '@gateway/core/accounts'
import { Link, Panel, Pill, Second, Table, TextField } from '../../components.tsx'
import { amount } from '../../format.ts'
import { nameOf } from '../../layout.tsx'
import { forOperators } from '../../page.ts'

const pageSize = 25

/** `/operator/accounts`: lists all accounts by id. `?q=` searches, `?after=` continues the list. */
export const accounts = forOperators({
  path: '/operator/accounts',
  async show({ backOffice, query }) {
    const search = (query.get('q') ?? '').trim().slice(0, 100)
    const found = search === '' ? undefined : await backOffice.queries.findAccountByName(search)
    if (found !== undefined) return { goTo: `/operator/accounts/${found.account.id}` }
    const after = accountId(Number(query.get('after') ?? ''))
    // Every account has an empty part.
    const rows = await backOffice.queries.searchAccounts(search, { after, limit: pageSize + 1 })
    const shown = rows.slice(0, pageSize)
    const last = shown.at(-1)?.account.id
    return {
      title: 'Accounts',
      place: 'operator-accounts',
      main: (
        <>
          <h1>Accounts</h1>
          <form method="get" class="search" role="search">
            <TextField
              name="q"
              label="Search"
              hint="An id, or a part of a login, name, e-mail address, code or own number"
              type="search"
              value={search}
            />
            <Second>Search</Second>
          </form>
          <Panel>
            <Table
              caption="Accounts by id"
              rows={shown}
              empty={
                search === ''
                  ? 'There are no more accounts. "gateway account open" opens one.'
                  : `No account has ${search}.`
              }
              columns={[
                {
                  head: 'Id',
                  cell: ({ account }) => <Link to={`/operator/accounts/${account.id}`}>{account.id}</Link>,
                  number: true,
                },
                { head: 'Login', cell: ({ account }) => account.login },
                { head: 'Name', cell: ({ account }) => nameOf(account) },
                { head: 'Main account', cell: ({ account }) => account.parent ?? '', number: true },
                {
                  head: 'State',
                  cell: ({ account }) =>
                    account.locked ? <Pill tone="bad">locked</Pill> : <Pill tone="good">open</Pill>,
                },
                { head: 'Credits', cell: ({ balance }) => amount(balance), number: true },
              ]}
            />
            {rows.length > pageSize && last !== undefined && (
              <p class="hint">
                <Link to={`/operator/accounts?${new URLSearchParams({ q: search, after: String(last) }).toString()}`}>
                  Next
                </Link>
              </p>
            )}
          </Panel>
        </>
      ),
    }
  },
})

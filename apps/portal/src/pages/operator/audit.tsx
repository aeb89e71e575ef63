import { accountId } from '@gateway/core/accounts'
import { auditSequence, type AuditSequence, type ListedChange } from '@gateway/core/audit'
import type { Instant } from '@gateway/core/time'
import { auditRecord, auditWords } from '@gateway/wire'
import { Form, Link, Main, Notice, Panel, Second, Table, TextField, When } from '../../components.tsx'
import { amount, count, exactly } from '../../format.ts'
import { forOperators, type OperatorVisit, type View } from '../../page.ts'
import { AccountLink, loginsOf, type Logins } from './account-link.tsx'

const pageSize = 50

/** Formats of the portal: grouped credits, times in gateway time. */
const style = { credits: amount, time: (at: Instant) => exactly(at).slice(0, -4) } as const

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

interface ChangesProps {
  readonly of: readonly ListedChange[]
  /** Logins of their accounts. */
  readonly logins: Logins
  readonly empty: string
}

/** Returns the accounts that changes concern. */
const accountsIn = (changes: readonly ListedChange[]) =>
  changes.flatMap(({ begun }) => {
    const { account } = auditRecord(begun)
    const id = typeof account === 'number' ? accountId(account) : undefined
    return id === undefined ? [] : [{ account: id }]
  })

/** Table of changes, the latest first. */
export const Changes = ({ of, logins, empty }: ChangesProps) => (
  <Table
    caption="Changes by operators"
    rows={of}
    empty={empty}
    columns={[
      { head: 'Entry', cell: ({ begun }) => begun.sequence, number: true },
      { head: 'Time', cell: ({ begun }) => <When at={begun.at} /> },
      { head: 'By', cell: ({ begun }) => text(auditRecord(begun).by) },
      { head: 'From', cell: ({ begun }) => text(auditRecord(begun).from) },
      { head: 'Change', cell: (change) => auditWords(change, style).change },
      {
        head: 'Account',
        cell: (change) =>
          accountsIn([change]).map(({ account }) => <AccountLink key={account} id={account} logins={logins} />),
      },
      { head: 'Asked for', cell: (change) => auditWords(change, style).input },
      { head: 'Outcome', cell: (change) => auditWords(change, style).outcome },
    ]}
  />
)

async function view({ backOffice, query }: OperatorVisit, verified?: View['main']): Promise<View> {
  const by = (query.get('by') ?? '').trim().slice(0, 100)
  const account = (query.get('account') ?? '').trim().slice(0, 20)
  const before = auditSequence(Number(query.get('before') ?? ''))
  const search = { by: by === '' ? undefined : by, account: accountId(Number(account)), before }
  const found = await backOffice.queries.listChanges(search, pageSize + 1)
  const changes = found.slice(0, pageSize)
  return {
    title: 'Audit',
    place: 'audit',
    main: (
      <>
        {verified}
        <h1>Audit</h1>
        <form method="get" class="search" role="search">
          <TextField name="by" label="By" hint="A part of a name" type="search" value={by} />
          <TextField name="account" label="Account" hint="Its id" type="search" value={account} />
          <Second>Search</Second>
        </form>
        <Panel>
          <Changes
            of={changes}
            logins={await loginsOf(backOffice, accountsIn(changes))}
            empty="No change was found. Changes by operators are listed here."
          />
          {found.length > pageSize && (
            <p class="hint">
              <Link to={olderPath(changes.at(-1)?.begun.sequence, { by, account })}>Older</Link>
            </p>
          )}
        </Panel>
        <Form to="/operator/audit" class="actions">
          <Main>Verify all entries</Main>
        </Form>
      </>
    ),
  }
}

const olderPath = (before: AuditSequence | undefined, search: Readonly<Record<string, string>>): string =>
  `/operator/audit?${new URLSearchParams({ ...search, before: String(before ?? '') }).toString()}`

/** `/operator/audit`: lists who changed what. Its form verifies the hash of every entry. */
export const audit = forOperators({
  path: '/operator/audit',
  show: (visit) => view(visit),
  async submit(visit) {
    const { entries, hash, broken } = await visit.backOffice.queries.verifyAuditLog()
    return view(
      visit,
      broken === undefined ? (
        <Notice>
          All {count(entries)} entries are intact. The last hash is <code>{hash}</code>.
        </Notice>
      ) : (
        <Notice tone="bad">
          <strong>Entry {count(broken)} was changed or removed.</strong> The log is not intact.
        </Notice>
      ),
    )
  },
})

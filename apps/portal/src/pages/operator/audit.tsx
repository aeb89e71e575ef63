import { accountId } from '@gateway/core/accounts'
import { auditSequence, type AuditEntry, type AuditSequence, type ListedChange } from '@gateway/core/audit'
import { credits } from '@gateway/core/credits'
import { Form, Link, Main, Notice, Panel, Second, Table, TextField, When } from '../../components.tsx'
import { amount, count } from '../../format.ts'
import { forOperators, type OperatorVisit, type View } from '../../page.ts'

const pageSize = 50

type Detail = Readonly<Record<string, unknown>>

const recordOf = (entry: AuditEntry | undefined): Detail =>
  entry === undefined ? {} : (JSON.parse(entry.record) as Detail)

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null))

/** `topUp` as `top up`, `balanceTenths` as `balance`. */
const inWords = (name: string): string =>
  name.replace(/Tenths$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/** Amounts are kept in tenths of a credit. */
const valueOf = (name: string, value: unknown): string =>
  name.endsWith('Tenths') && typeof value === 'number' ? amount(credits(value)) : shown(value)

const wordsOf = (value: unknown): string =>
  Object.entries((value ?? {}) as Detail)
    .filter(([, one]) => !Array.isArray(one) || one.length > 0)
    .map(([name, one]) => `${inWords(name)} ${valueOf(name, one)}`)
    .join(', ')

function outcomeOf({ ended }: ListedChange): string {
  if (ended === undefined) return 'unknown'
  const { outcome, changed } = recordOf(ended)
  const differs = Object.entries((changed ?? {}) as Readonly<Record<string, readonly [unknown, unknown]>>)
  const changes = differs.map(([name, [from, to]]) => `${inWords(name)} ${valueOf(name, from)} to ${valueOf(name, to)}`)
  return changes.length > 0 ? changes.join('; ') : outcome === true ? 'done' : shown(outcome)
}

/** Changes, the latest first. */
export const Changes = ({ of, empty }: { readonly of: readonly ListedChange[]; readonly empty: string }) => (
  <Table
    caption="Changes by operators"
    rows={of}
    empty={empty}
    columns={[
      { head: 'Entry', cell: ({ begun }) => begun.sequence, number: true },
      { head: 'Time', cell: ({ begun }) => <When at={begun.at} /> },
      { head: 'By', cell: ({ begun }) => shown(recordOf(begun).by) },
      { head: 'From', cell: ({ begun }) => shown(recordOf(begun).from) },
      { head: 'Change', cell: ({ begun }) => inWords(shown(recordOf(begun).action)) },
      {
        head: 'Account',
        cell: ({ begun }) => {
          const { account } = recordOf(begun)
          return typeof account === 'number' && <Link to={`/operator/accounts/${account}`}>{account}</Link>
        },
        number: true,
      },
      { head: 'Asked for', cell: ({ begun }) => wordsOf(recordOf(begun).given) },
      { head: 'Outcome', cell: outcomeOf },
    ]}
  />
)

async function view({ backOffice, query }: OperatorVisit, verified?: View['main']): Promise<View> {
  const by = (query.get('by') ?? '').trim().slice(0, 100)
  const account = (query.get('account') ?? '').trim().slice(0, 20)
  const before = auditSequence(Number(query.get('before') ?? ''))
  const search = { by: by === '' ? undefined : by, account: accountId(Number(account)), before }
  const found = await backOffice.listChanges(search, pageSize + 1)
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
          <Changes of={changes} empty="No change was found. What operators change is listed here." />
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

/** `/operator/audit`: who changed what. Its form computes every hash again. */
export const audit = forOperators({
  path: '/operator/audit',
  show: (visit) => view(visit),
  async submit(visit) {
    const { entries, hash, broken } = await visit.backOffice.verifyAuditLog()
    return view(
      visit,
      broken === undefined ? (
        <Notice>
          All {count(entries)} entries are as they were written. The last hash is <code>{hash}</code>.
        </Notice>
      ) : (
        <Notice tone="bad">
          <strong>Entry {count(broken)} was changed, or is not there.</strong> The log is not whole.
        </Notice>
      ),
    )
  },
})

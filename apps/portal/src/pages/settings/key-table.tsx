import type { ApiKey } from '@gateway/core/accounts'
import type { Instant } from '@gateway/core/time'
import type { ComponentChildren } from 'preact'
import { Pill, Table, When } from '../../components.tsx'

const isExpired = ({ expires }: ApiKey, now: Instant): boolean => expires !== undefined && expires <= now

const StateOfKey = ({ of: key, now }: { readonly of: ApiKey; readonly now: Instant }) => {
  if (key.revoked !== undefined) return <Pill tone="bad">revoked</Pill>
  return isExpired(key, now) ? <Pill tone="idle">expired</Pill> : <Pill tone="good">valid</Pill>
}

/** Table of the keys of an account, the latest first. `change` renders the actions for a key that is not revoked. */
export const KeyTable = ({
  caption,
  keys,
  now,
  empty,
  change,
}: {
  readonly caption: string
  readonly keys: readonly ApiKey[]
  readonly now: Instant
  readonly empty: string
  readonly change: (key: ApiKey) => ComponentChildren
}) => (
  <Table
    caption={caption}
    rows={keys.toReversed()}
    empty={empty}
    columns={[
      { head: 'Label', cell: ({ label }) => <span class="text">{label === '' ? '–' : label}</span> },
      { head: 'Begins with', cell: ({ prefix }) => <code>{prefix}…</code> },
      { head: 'Made', cell: ({ issued }) => <When at={issued} /> },
      { head: 'Used from', cell: ({ from }) => (from.length === 0 ? 'anywhere' : from.join(', ')) },
      { head: 'State', cell: (key) => <StateOfKey of={key} now={now} /> },
      { head: 'Change', cell: (key) => (key.revoked === undefined ? change(key) : '') },
    ]}
  />
)

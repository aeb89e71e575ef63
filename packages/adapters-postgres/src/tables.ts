import type { Overflow } from '@gateway/core/routes'
import type { PreviousSecret } from '@gateway/core/webhooks'
import type { ColumnType, Generated, GeneratedAlways } from 'kysely'

/** Time, read as milliseconds since 1970 and written as ISO 8601. */
type Time = ColumnType<number, string, string>
type TimeOrNull = ColumnType<number | null, string | null, string | null>

/** Tables as kysely needs to know them. The migrations document them. */
export interface Tables {
  account: {
    id: GeneratedAlways<number>
    parent_id: number | null
    balance: number
    locked: Generated<boolean>
  }
  directory: {
    account_id: number
    login: string
    first_name: string
    surname: string
    own_number: number | null
    transactional: boolean
    password_hash: string | null
    created_at: Time
    from_networks: ColumnType<string[], readonly string[] | undefined, readonly string[]>
    requests_per_second: ColumnType<number | null, undefined, number | null>
    recipients_per_second: ColumnType<number | null, undefined, number | null>
  }
  api_key: {
    id: GeneratedAlways<number>
    account_id: number
    hash: string
    prefix: string
    label: string
    issued_at: Time
    expires_at: TimeOrNull
    revoked_at: ColumnType<number | null, never, string>
    key_networks: ColumnType<string[], readonly string[], readonly string[]>
    operation: ColumnType<string | null, string | null, never>
  }
  session: { id: GeneratedAlways<number>; account_id: number }
  ledger: {
    id: GeneratedAlways<number>
    account_id: number
    kind: number
    amount: number
    send_first_id: number | null
    at: ColumnType<number, string | undefined, never>
    code: number | null
    other_account_id: number | null
    why: string | null
  }
  allowed_sender: {
    account_id: number
    address: string
    destinations: ColumnType<string[], readonly string[], readonly string[]>
    default_for: ColumnType<string[], readonly string[], readonly string[]>
    carriers: ColumnType<string[], readonly string[], readonly string[]>
    refuses: boolean
  }
  price: { prefix: string; price: number }
  account_price: { account_id: number; prefix: string; price: number }
  suppression: { account_id: number; msisdn: number; kind: number; since: Time }
  opt_out_reply: {
    account_id: number
    msisdn: number
    since: Time
    inbound_message_id: number | null
    text: string
    answers: number | null
  }
  sender: { id: GeneratedAlways<number>; address: string; account_id: number | null; assigned_at: TimeOrNull }
  carrier: { id: GeneratedAlways<number>; name: string; receipt_form: ColumnType<string | null, undefined, string> }
  route: {
    id: Generated<number>
    name: string
    position: number | null
    prefixes: string[]
    accounts: number[]
    senders: string[]
    carriers: string[]
    priorities: number[]
    weights: number[]
    /** Null: the default. */
    overflow: ColumnType<Overflow | null, string | null, string | null>
  }
  carrier_version: {
    version: number
    sealed: string
    digest: string
    carriers: string[]
    stored_at: ColumnType<number, undefined, never>
    stored_by: string
  }
  carrier_watch: {
    id: string
    carrier: string
    number: string | null
    has_text: boolean
    watched_until: Time
  }
  watched_pdu: { id: GeneratedAlways<number>; watch: string; pdu: string }
  carrier_rate: {
    carrier: string
    holder: string
    share: number
    need: number
    lease_until: Time
  }
  carrier_mode: {
    carrier: string
    mode: 'paused' | 'drained'
    since: ColumnType<number, undefined, number>
    set_by: string
  }
  carrier_user: {
    process: string
    host: string
    pid: number
    version: number
    simulated: string | null
    lease_until: Time
  }
  queue: { id: Generated<number>; route: number; refused_by: string; only_for: string }
  webhook: {
    id: GeneratedAlways<number>
    account_id: number
    url: string
    events: number
    list_size: number
    with_text: boolean
    state: Generated<number>
    paused_for: string | null
    created_at: Time
    failing_since: TimeOrNull
    secret: string
    secret_at: ColumnType<number, string | undefined, string>
    previous: ColumnType<readonly PreviousSecret[], undefined, string>
  }
}

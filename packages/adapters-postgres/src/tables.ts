import type { AccountId, KeyHash, KeyId } from '@gateway/core/accounts'
import type { BulkSendId, BulkSendState, BulkRow, IdRun, TemplateId } from '@gateway/core/bulk-sends'
import type { Credits } from '@gateway/core/credits'
import type { CarrierId } from '@gateway/core/dispatch'
import type { InboundMessageId } from '@gateway/core/inbox'
import type { CallingCode, MessageId, SenderAddress, SendOptions } from '@gateway/core/messages'
import type {
  FactorOwner,
  OperatorId,
  OperatorRole,
  PasswordHash,
  SessionId,
  UserId,
  UserRole,
} from '@gateway/core/people'
import type {
  Alphabet0,
  Alphabet1,
  BindId,
  BindMode,
  RepliesBy,
  SmppCredentialId,
  SmppProcessId,
} from '@gateway/core/smpp-customers'
import type { Overflow, QueueNumber, RouteNumber } from '@gateway/core/routes'
import type { Instant } from '@gateway/core/time'
import type { PauseReason, PreviousSecret, SealedSecret, WebhookId } from '@gateway/core/webhooks'
import type { ColumnType, Generated, GeneratedAlways } from 'kysely'

/** Time, read as milliseconds since 1970 and written as ISO 8601. */
type Time = ColumnType<Instant, string, string>
type TimeOrNull = ColumnType<Instant | null, string | null, string | null>
/** Time that the database sets when the row is inserted. */
type TimeOfInsert = ColumnType<Instant, undefined, string>
type Texts<Text extends string = string> = ColumnType<readonly Text[], readonly Text[], readonly Text[]>
/** JSON, read as a value and written as text. */
type Json<Value> = ColumnType<Value, string, string>

/**
 * Tables as kysely needs to know them. The migrations document them. Brands are trusted, because core made the values.
 */
export interface Tables {
  account: {
    id: GeneratedAlways<AccountId>
    parent_id: AccountId | null
    balance: Credits
    locked: Generated<boolean>
  }
  directory: {
    account_id: AccountId
    login: string
    first_name: string
    surname: string
    own_number: number | null
    transactional: boolean
    password_hash: PasswordHash | null
    created_at: Time
    from_networks: ColumnType<readonly string[], readonly string[] | undefined, readonly string[]>
    requests_per_second: ColumnType<number | null, undefined, number | null>
    recipients_per_second: ColumnType<number | null, undefined, number | null>
    second_factor_required: ColumnType<boolean, undefined, boolean>
    calling_code: ColumnType<CallingCode | null, undefined, CallingCode | null>
  }
  api_key: {
    id: GeneratedAlways<KeyId>
    account_id: AccountId
    hash: KeyHash
    prefix: string
    label: string
    issued_at: Time
    expires_at: TimeOrNull
    revoked_at: ColumnType<Instant | null, never, string>
    key_networks: Texts
    operation: ColumnType<string | null, string | null, never>
  }
  account_user: {
    id: GeneratedAlways<UserId>
    account_id: AccountId
    email: string
    role: UserRole
    locked: Generated<boolean>
    password_hash: ColumnType<PasswordHash | null, undefined, PasswordHash>
    added_at: TimeOfInsert
    link_hash: KeyHash | null
    link_until: TimeOrNull
  }
  session: {
    id: GeneratedAlways<SessionId>
    hash: KeyHash
    account_id: AccountId
    user_id: UserId | null
    opened_under: Buffer
    second_factor: boolean
    opened_at: TimeOfInsert
    used_at: TimeOfInsert
    agent: string
    address: string
  }
  second_factor: {
    owner: FactorOwner
    secret: SealedSecret
    since: TimeOfInsert
    step: number
    recovery_codes: Texts
  }
  sign_in_link: { hash: KeyHash; account_id: AccountId; until: Time }
  operator: {
    id: GeneratedAlways<OperatorId>
    name: string
    role: OperatorRole
    locked: Generated<boolean>
    password_hash: PasswordHash
    added_at: TimeOfInsert
  }
  operator_session: {
    id: GeneratedAlways<SessionId>
    hash: KeyHash
    operator_id: OperatorId
    opened_under: Buffer
    second_factor: boolean
    opened_at: TimeOfInsert
    used_at: TimeOfInsert
    agent: string
    address: string
    acts_as: ColumnType<AccountId | null, undefined, AccountId | null>
    acts_until: ColumnType<Instant | null, undefined, string | null>
  }
  ledger: {
    id: GeneratedAlways<number>
    account_id: AccountId
    kind: number
    amount: Credits
    send_first_id: MessageId | null
    at: ColumnType<Instant, string | undefined, never>
    code: number | null
    other_account_id: AccountId | null
    why: string | null
  }
  allowed_sender: {
    account_id: AccountId
    address: SenderAddress
    destinations: Texts
    default_for: Texts
    carriers: Texts<CarrierId>
    refuses: boolean
  }
  price: { prefix: string; price: Credits }
  account_price: { account_id: AccountId; prefix: string; price: Credits }
  suppression: { account_id: AccountId | 0; msisdn: number; kind: number; since: Time }
  opt_out_reply: {
    account_id: AccountId
    msisdn: number
    since: Time
    inbound_message_id: InboundMessageId | null
    text: string
    answers: MessageId | null
  }
  sender: {
    id: GeneratedAlways<number>
    address: SenderAddress
    account_id: AccountId | null
    assigned_at: TimeOrNull
  }
  carrier: {
    id: GeneratedAlways<number>
    name: CarrierId
    receipt_form: ColumnType<string | null, undefined, string>
  }
  route: {
    id: Generated<RouteNumber>
    name: string
    position: number | null
    prefixes: Texts
    accounts: ColumnType<readonly AccountId[], readonly AccountId[], readonly AccountId[]>
    senders: Texts<SenderAddress>
    carriers: Texts<CarrierId>
    priorities: number[]
    weights: number[]
    /** Overflow settings of the route; null for the defaults. */
    overflow: ColumnType<Overflow | null, string | null, string | null>
  }
  carrier_version: {
    version: number
    sealed: SealedSecret
    digest: string
    carriers: Texts<CarrierId>
    stored_at: TimeOfInsert
    stored_by: string
  }
  carrier_watch: {
    id: string
    carrier: CarrierId
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
    carrier: CarrierId
    mode: 'paused' | 'drained'
    since: TimeOfInsert
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
  queue: { id: Generated<QueueNumber>; route: RouteNumber; refused_by: CarrierId | ''; only_for: CarrierId | '' }
  template: { id: GeneratedAlways<TemplateId>; account_id: AccountId; name: string; text: string }
  bulk_send: {
    id: GeneratedAlways<BulkSendId>
    account_id: AccountId
    state: ColumnType<BulkSendState, undefined, BulkSendState>
    columns: Texts
    text: string
    scheduled_at: TimeOrNull
    key: string
    sender: SenderAddress | null
    options: ColumnType<SendOptions | null, string | null, string | null>
    revision: Generated<number>
    created_at: TimeOfInsert
    started_at: ColumnType<Instant | null, undefined, string>
    due_at: TimeOfInsert
    failed_over_at: ColumnType<Instant | null, undefined, never>
  }
  bulk_send_call: {
    send_id: BulkSendId
    call: number
    /** All rows of the call until the call ends, then only the rows without a message. */
    recipients: Json<readonly BulkRow[]>
    /** Number of rows, without rows that repeat a number. */
    count: number
    repeated: number
    /** Null until the call has ended. */
    accepted: ColumnType<readonly IdRun[] | null, undefined, string>
    messages: Generated<number>
    cost: ColumnType<Credits, undefined, Credits>
  }
  smpp_credential: {
    id: GeneratedAlways<SmppCredentialId>
    account_id: AccountId
    system_id: string
    password_hash: PasswordHash
    created_at: Time
    rotated_at: ColumnType<Instant | null, undefined, string>
    bind_networks: Texts
    binds: number
    window_size: number
    per_second: number
    alphabet0: Alphabet0
    alphabet1: Alphabet1
    country: string | null
    idempotent: boolean
    receipt_offset_minutes: number
  }
  smpp_account: { account_id: AccountId; replies_by: RepliesBy }
  smpp_process: { id: SmppProcessId; seen_at: TimeOfInsert }
  smpp_bind: {
    id: BindId
    process: SmppProcessId
    credential_id: SmppCredentialId
    mode: BindMode
    remote: string
    version: number
    since: TimeOfInsert
    last_error: ColumnType<string | null, undefined, string | null>
    stray_texts: ColumnType<number, undefined, number>
    submissions: ColumnType<number, undefined, number>
    probe: ColumnType<boolean, undefined, boolean>
  }
  webhook: {
    id: GeneratedAlways<WebhookId>
    account_id: AccountId
    url: string
    events: number
    list_size: number
    with_text: boolean
    state: Generated<number>
    paused_for: PauseReason | null
    created_at: Time
    failing_since: TimeOrNull
    secret: SealedSecret
    secret_at: ColumnType<Instant, string | undefined, string>
    previous: ColumnType<readonly PreviousSecret[], undefined, string>
  }
}

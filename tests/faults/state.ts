import type { Database } from './database.ts'

export interface StoredSend {
  readonly first: number
  readonly n: number
  readonly account: number
  readonly price: number
  readonly numbers: readonly string[]
  /** True for the confirmation of an opt-out, which is not a message of the account. */
  readonly confirms: boolean
}

export interface StoredMessage {
  readonly id: number
  readonly code: number
  readonly carrier: number
}

/** All data of a run in the database. Amounts are tenths of a credit. */
export interface State {
  readonly sends: readonly StoredSend[]
  readonly messages: ReadonlyMap<number, StoredMessage>
  /** Codes of parts that were submitted over SMPP and whose text was refused or expired, by id. */
  readonly endedParts: ReadonlyMap<number, number>
  /** Number of places in which an id waits: scheduled or for another try (`later`), due, or in a claimed batch. */
  readonly waiting: ReadonlyMap<number, number>
  readonly balances: ReadonlyMap<number, number>
  readonly ledger: readonly Entry[]
  /** Inbound messages. */
  readonly arrivals: readonly StoredArrival[]
  /** Messages that no return-once call has consumed. */
  readonly offered: ReadonlySet<number>
  /** Consumptions of messages by return-once calls, without those that were undone. */
  readonly takings: readonly StoredTaking[]
  /** Number of incidents of messages, by name. */
  readonly incidents: ReadonlyMap<string, number>
}

export interface StoredArrival {
  readonly id: number
  /** Null if it belongs to no account. */
  readonly account: number | null
  readonly from: string
  readonly text: string
  readonly toCode: boolean
}

export interface StoredTaking {
  readonly account: number
  readonly arrivals: readonly number[]
  /** Time in milliseconds since 1970. */
  readonly at: number
}

export interface Entry {
  readonly account: number
  readonly kind: number
  readonly amount: number
  readonly send: number | null
  /** Operation, the same for both entries of a transfer. */
  readonly operation: string | null
}

/** `pg` returns bigint as text; all values here are below 2^53. */
const numbersOf = (text: string): number[] => (text === '' ? [] : text.split(',').map(Number))

export async function readState(database: Database): Promise<State> {
  const sends = await database.ask<
    Record<'first' | 'n' | 'account' | 'price' | 'numbers', string> & { confirms: boolean }
  >(
    `select first_id first, n, account_id account, price, array_to_string(msisdns, ',') numbers, confirms_opt_out confirms from send order by 1`,
  )
  const messages = await database.ask<Record<'id' | 'code' | 'carrier', string>>(
    'select id, code, carrier from message',
  )
  const endedParts = await database.ask<{ id: string; code: number }>(
    'select id, code from smpp_part where code is not null',
  )
  const ranges = await database.ask<{ lo: string; hi: string }>(
    'select lo, hi from due union all select lo, hi from later',
  )
  const claimed = await database.ask<{ ids: string }>(`select array_to_string(ids, ',') ids from claimed_batch`)
  const waiting = new Map<number, number>()
  const wait = (id: number): void => void waiting.set(id, (waiting.get(id) ?? 0) + 1)
  for (const { lo, hi } of ranges) for (let id = Number(lo); id < Number(hi); id++) wait(id)
  for (const { ids } of claimed) for (const id of numbersOf(ids)) wait(id)
  const accounts = await database.ask<{ id: number; balance: string }>('select id, balance from account')
  const ledger = await database.ask<
    Record<'account' | 'kind' | 'amount', string> & Record<'send' | 'operation', string | null>
  >('select account_id account, kind, amount, send_first_id send, operation from ledger')
  const arrivals = await database.ask<{
    id: string
    account: number | null
    from: string
    text: string
    code: boolean
  }>(
    'select id, account_id account, from_address "from", text, short_code is not null code from inbound_message order by at, id',
  )
  const offered = await database.ask<{ id: string }>('select inbound_message_id id from inbound_message_offered')
  const takings = await database.ask<{ account: number; ids: string; milliseconds: string }>(
    `select account_id account, array_to_string(inbound_message_ids, ',') ids, extract(epoch from at) * 1000 milliseconds from inbound_message_taken`,
  )
  const incidents = await database.ask<{ what: string; n: string }>('select what, count(*) n from incident group by 1')
  return {
    sends: sends.map((row) => ({
      first: Number(row.first),
      n: Number(row.n),
      account: Number(row.account),
      price: Number(row.price),
      numbers: row.numbers.split(','),
      confirms: row.confirms,
    })),
    messages: new Map(
      messages.map((row) => [
        Number(row.id),
        { id: Number(row.id), code: Number(row.code), carrier: Number(row.carrier) },
      ]),
    ),
    endedParts: new Map(endedParts.map(({ id, code }) => [Number(id), code])),
    waiting,
    balances: new Map(accounts.map(({ id, balance }) => [id, Number(balance)])),
    ledger: ledger.map((row) => ({
      account: Number(row.account),
      kind: Number(row.kind),
      amount: Number(row.amount),
      send: row.send === null ? null : Number(row.send),
      operation: row.operation,
    })),
    arrivals: arrivals.map(({ id, account, from, text, code }) => ({
      id: Number(id),
      account,
      from,
      text,
      toCode: code,
    })),
    offered: new Set(offered.map(({ id }) => Number(id))),
    takings: takings.map(({ account, ids, milliseconds }) => ({
      account,
      arrivals: numbersOf(ids),
      at: Number(milliseconds),
    })),
    incidents: new Map(incidents.map(({ what: name, n }) => [name, Number(n)])),
  }
}

/**
 * Returns the accounts whose balance differs from the sum of their entries and sends. A single statement reads all data
 * in one snapshot, so the result must be empty at any moment.
 */
export const wrongBalances = (
  database: Pick<Database, 'ask'>,
): Promise<{ id: number; balance: string; entries: string }[]> =>
  database.ask(`
select * from (
  select a.id, a.balance, coalesce((select sum(amount) from ledger where account_id = a.id), 0)
    - coalesce((select sum(n::bigint * price) from send where account_id = a.id), 0) entries from account a) x
where balance <> entries or balance < 0`)

/** Returns accounts whose count of scheduled messages at some due time is wrong at this moment. */
export const wrongScheduledCounts = (database: Pick<Database, 'ask'>): Promise<{ account: number }[]> =>
  database.ask(`
with counted as (
  select account_id, due_at, sum(n) n
  from (select account_id, due_at, n from scheduled_block union all select account_id, due_at, change from scheduled_change) counts
  group by 1, 2 having sum(n) <> 0
), hours as (
  select account_id, hour, sum(n) n
  from (select account_id, hour, n from scheduled_hour union all select account_id, date_bin('1 hour', due_at, 'epoch'), change from scheduled_change) counts
  group by 1, 2 having sum(n) <> 0
), waiting as (
  select account_id, due_at, sum(hi - lo) n from later where attempt = 0 group by 1, 2
), waiting_hours as (
  select account_id, date_bin('1 hour', due_at, 'epoch') as hour, sum(n) n from waiting group by 1, 2
)
select distinct account_id account from (
  select account_id from counted full join waiting using (account_id, due_at, n) where counted.n is null or waiting.n is null
  union all
  select account_id from hours full join waiting_hours using (account_id, hour, n) where hours.n is null or waiting_hours.n is null
) wrong`)

/** Returns sends whose stored refunds differ from the cost of their refundable messages. */
export const wrongRefunds = (database: Database): Promise<{ first: string; got: string; wanted: string }[]> =>
  database.ask(`
select * from (
  select s.first_id first, coalesce(r.got, 0) got, s.price * coalesce(m.n, 0) wanted from send s
  left join (
    select send_first_id, count(*) n from message
    where code = 111 or coalesce(carrier, 0) = 0 and code in (101, 102, 202, 212, 214) group by 1
  ) m on m.send_first_id = s.first_id
  left join (select send_first_id, sum(amount) got from ledger where kind = 3 group by 1) r on r.send_first_id = s.first_id
) x where got <> wanted`)

/** Returns numbers that are stored in more than one place of a send. A run requests each number once. */
export const storedTwice = (database: Database): Promise<{ number: string; n: string }[]> =>
  database.ask('select number, count(*) n from send, unnest(msisdns) number group by 1 having count(*) > 1')

/** Returns transfers that moved credits more than once. A run requests each quantity of an account once. */
export const movedTwice = (database: Database): Promise<{ account: number; amount: string; n: string }[]> =>
  database.ask(`
select account_id account, -amount amount, count(*) n from ledger where kind = 2 and amount < 0 group by 1, 2 having count(*) > 1`)

export async function deletedIds(database: Database): Promise<ReadonlySet<number>> {
  const rows = await database.ask<{ id: string }>('select id from message where code = 102')
  return new Set(rows.map(({ id }) => Number(id)))
}

/** Counts messages with dispatchers, due, or due within two minutes. */
export async function waitingMessages(database: Database): Promise<number> {
  const [row] = await database.ask<{ n: string }>(`
select coalesce((select sum(hi - lo) from due), 0) + coalesce((select sum(cardinality(ids)) from claimed_batch), 0)
  + coalesce((select sum(hi - lo) from later where at < now() + interval '2 min'), 0) n`)
  return Number(row?.n)
}

/** Returns the ids without a send. */
export async function missingIds(database: Pick<Database, 'ask'>, ids: readonly number[]): Promise<readonly number[]> {
  const rows = await database.ask<{ id: string }>(`
select id from unnest('{${ids.join()}}'::bigint[]) id
where not exists (select from send where id >= first_id and id < first_id + n and first_id > id - 10000)`)
  return rows.map(({ id }) => Number(id))
}

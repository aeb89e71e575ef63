import { Client } from 'pg'
import { preparedDatabase, type FreshDatabase } from './fresh-database.ts'

/**
 * Rows of the filled database. Their ids belong to partition 1, which is the newest one with messages. The ids of
 * `history` belong to partition 0. Partitions 2 and 3 are empty.
 */
export const filled = {
  accounts: 200,
  /** Single sends that are due: 10,000 of account 1 and 10,000 of all accounts. */
  due: { from: 5_000_001, count: 20_000 },
  /** Scheduled single sends. */
  later: { from: 5_100_001, count: 20_000 },
  /** Single sends in claimed batches of dispatchers 1 to 20, 500 each. */
  claimed: { from: 5_200_001, count: 10_000, each: 500 },
  /** Submitted single sends, with the references r1, r2, … */
  sent: { from: 5_300_001, count: 30_000 },
  /** Single sends that were submitted as two parts, with the references p1-1, p1-2, p2-1, … */
  inParts: { from: 5_350_001, count: 10_000 },
  /** Sends of 1000 that are due. */
  bulk: { from: 5_400_001, count: 10 },
  history: { from: 1, count: 60_000 },
  unmatched: 3000,
  /** Rows of each of the tables of arrivals, webhook events, parts and deliveries of SMPP. */
  others: 20_000,
} as const

type Amounts = { readonly [range in keyof typeof filled]: Widened<(typeof filled)[range]> }
type Widened<T> = T extends number ? number : { readonly [field in keyof T]: number }

/** Smaller amounts, with a tenth of the sends and messages, for tests that read every row and check no plan. */
export const fewer: Amounts = {
  ...filled,
  due: { ...filled.due, count: 2000 },
  later: { ...filled.later, count: 2000 },
  sent: { ...filled.sent, count: 3000 },
  inParts: { ...filled.inParts, count: 1000 },
  history: { ...filled.history, count: 6000 },
  others: 2000,
}

/** Inserts some 400,000 rows by default. The number of a message is 27800000000 plus its id. */
export async function fillDatabase(connectionString: string, amounts: Amounts = filled): Promise<void> {
  const client = new Client({ connectionString })
  await client.connect()
  const { accounts, due, later, claimed, sent, inParts, bulk, history, unmatched, others } = amounts
  const account = (id: string) => `case when ${id} % 2 = 0 then 1 else 1 + ${id} % ${accounts} end`
  const singles = ({ from, count }: { from: number; count: number }) =>
    `generate_series(${from}, ${from + count - 1}) i`
  const sends = (rows: string) => `insert into send (first_id, n, account_id, price, body, msisdns)
    select i, 1, ${account('i')}, 10, 'hello ' || i, array[27800000000 + i] from ${rows}`
  const messages = (
    rows: string,
    at: string,
  ) => `insert into message (id, send_first_id, msisdn, account_id, carrier, code, carrier_id, sent_at)
    select i, i, 27800000000 + i, ${account('i')}, 1, 100, 'r' || i, ${at} from ${rows}`
  await client.query(`
    select setval('id_block', 550);
    select add_partition(3);
    insert into carrier (name) values ('sim');
    insert into account (balance) select 1000000000 from generate_series(1, ${accounts});
    insert into directory (account_id, login, first_name, surname, transactional, created_at)
    select id, 'login' || id, 'first', 'last', false, now() from account;
    insert into api_key (account_id, hash, prefix, label, issued_at) select id, 'key' || id, 'key', '', now() from account;
    ${[due, later, claimed, sent, inParts, history].map((range) => sends(singles(range))).join(';')};
    insert into send (first_id, n, account_id, price, body, msisdns)
    select ${bulk.from} + k * 10000, 1000, 1 + k % 3, 10, 'bulk', array(select 27900000000 + i from generate_series(1, 1000) i)
    from generate_series(0, ${bulk.count - 1}) k;
    insert into due (lane, account_id, lo, hi, first_id) select 0, ${account('i')}, i, i + 1, i from ${singles(due)};
    insert into due (lane, account_id, lo, hi, first_id)
    select 1, 1 + k % 3, ${bulk.from} + k * 10000, ${bulk.from} + k * 10000 + 1000, ${bulk.from} + k * 10000 from generate_series(0, ${bulk.count - 1}) k;
    insert into later (lane, attempt, account_id, lo, hi, first_id, due_at, at)
    select 0, i % 2, ${account('i')}, i, i + 1, i, now() + (i % 100 - 1) * interval '1 hour', now() + (i % 100 - 1) * interval '1 hour' from ${singles(later)};
    insert into scheduled_change select account_id, due_at, lo / 1000, sum(hi - lo) from later where attempt = 0 group by 1, 2, 3;
    insert into dispatcher (id, lease_until) select nextval('dispatcher_epoch'), now() + interval '1 day' from generate_series(1, ${claimed.count / claimed.each});
    insert into claimed_batch (dispatcher, seq, carrier, lane, marked, ids, send_first_ids)
    select d.id, 1, 1, 0, 200, x.ids, x.ids
    from dispatcher d, lateral (select array_agg(i) ids from generate_series(${claimed.from} + (d.id - 1) * ${claimed.each}, ${claimed.from} + d.id * ${claimed.each} - 1) i) x;
    ${messages(singles(sent), 'now()')};
    insert into message (id, send_first_id, msisdn, account_id, carrier, code, parts_undelivered, carrier_id)
    select i, i, 27800000000 + i, ${account('i')}, 1, 100, 2, 'p' || i || '-1' from ${singles(inParts)};
    insert into message_part (id, part, msisdn, carrier, code, carrier_id)
    select i, part, 27800000000 + i, 1, 100, 'p' || i || '-' || part from ${singles(inParts)}, generate_series(1, 2) part;
    ${messages(singles(history), `now() - interval '60 days'`)};
    insert into unmatched_delivery_receipt (carrier, carrier_id, code, msisdn, submitted_at, next_try)
    select 1, 'stranger' || i, 0, 27800000000 + i, now(), now() + interval '1 hour' * (i % 10 - 1) from generate_series(1, ${unmatched}) i;
    insert into suppression (account_id, msisdn, kind, since) select i % 20, 27800000000 + i, 1 + i % 3, now() from generate_series(1, 5000) i;
    insert into sender (address) select '1202555' || (1000 + i) from generate_series(1, 300) i;
    update sender set account_id = 1, assigned_at = now() where id = 2;
    insert into chosen_sender (msisdn, accounts, senders) select 27800000000 + i, array[1, 2, 3], array[1, 2, 3] from generate_series(1, 5000) i;
    insert into last_contact (msisdn, sender, account_id, message_id, at) select 27800000000 + i, 1, 1, i, now() - interval '1 year' from generate_series(1, 5000) i;
    insert into inbound_message (account_id, short_code, carrier, from_address, to_address, text)
    select nullif(i % 20, 0), case when i % 3 = 0 and i % 20 > 0 then 2 end, 1, 27800000000 + i, '12025551001', 'hello' from generate_series(1, ${others}) i;
    insert into inbound_message_offered (account_id, at, inbound_message_id, to_code) select account_id, at, id, short_code is not null from inbound_message where account_id is not null and id % 20 <> 1;
    insert into inbound_message_taken (operation, account_id, inbound_message_ids) select md5('t' || i)::uuid, 1, array[20 * i + 1] from generate_series(1, 900) i;
    insert into inbound_message_seen (key, operation) select md5('k' || i)::uuid, md5('o' || i)::uuid from generate_series(1, 5000) i;
    insert into inbound_message_parts (key, common, last) select md5('p' || i)::uuid, '{}', now() - i * interval '1 second' from generate_series(1, 5000) i;
    insert into login_failure (key, counted_by, failures, until)
    select substr(sha256(secret || convert_to(md5('l' || (i % 1000)), 'UTF8')), 1, 16), gen_random_uuid(), 1, now() + (i - 3000) * interval '1 second' from generate_series(1, 6000) i, login_secret;
    insert into client_request (account_id, key, digest, answer) select 1 + i % 20, md5('key ' || i)::uuid, md5('d' || i)::uuid, 'done' from generate_series(1, 5000) i;
    insert into webhook (account_id, url, events, list_size, with_text, created_at, secret)
    select account.id, 'https://example.com', 255, 100, true, now(), 'sealed' from account, generate_series(1, 3) order by account.id;
    insert into webhook_event (webhook_id, type, sequence, at, code, send_first_id, has_reference, count, subjects, msisdns)
    select 1 + i % 40, i % 4, 4, now(), 0, ${sent.from} + i, true, 1, array[${sent.from} + i], array[27800000000 + i] from generate_series(1, ${others}) i;
    insert into webhook_list (webhook_id, state, tries, due_at, from_at, to_at, events)
    select 1 + i % 60, i % 3, 1, now() + (i - 5000) * interval '1 second', now(), now(), '[]' from generate_series(1, 6000) i;
    update webhook_list set leased = true where id <= 100;
    insert into webhook_attempt (list_id, tries, webhook_id, at, milliseconds, verdict)
    select id, 7, webhook_id, now(), 1, 1 from webhook_list;
    insert into webhook_replay (webhook_id, account_id, event) select id, account_id, 'one' from webhook where id = 1;
    insert into smpp_credential (account_id, system_id, password_hash, created_at, bind_networks, binds, window_size,
      per_second, alphabet0, alphabet1, idempotent, receipt_offset_minutes)
    select id, 'esme' || id, '', now(), '{}', 2, 10, 50, 'gsm', 'ascii', false, 0 from account;
    insert into smpp_account (account_id, replies_by) select id, 'smpp' from account;
    insert into smpp_process (id) select md5('s' || i)::uuid from generate_series(1, 4) i;
    insert into smpp_bind (id, process, credential_id, mode, remote, version)
    select md5('b' || id)::uuid, md5('s' || (1 + id % 4))::uuid, id, 'transceiver', '', 52 from smpp_credential;
    insert into smpp_accept (process, slot, until, first_ids)
    select md5('s' || i)::uuid, 1, now() + interval '1 hour', array[${history.from} + i] from generate_series(1, 4) i;
    insert into smpp_part (id, account_id, text_key, part, total, msisdn, content, credential_id, message_id)
    select ${history.from} + i, ${account('i')}, md5('text' || i / 2)::uuid, 1 + i % 2, 2, 27800000000 + i, '{}', 1,
      case when i > 2000 then i / 2 * 2 end
    from generate_series(1, ${others}) i;
    insert into smpp_delivery (account_id, credential_id, kind, subject, message_id, send_first_id, msisdn, code, taken, receipts, at)
    select ${account('i')}, 1 + i % ${accounts}, 0, ${sent.from} + i, ${sent.from} + i, ${sent.from} + i, 27800000000 + i, 0, true, 1, now()
    from generate_series(1, ${others}) i;
    insert into incident (message_id, what) select i, 'recovered' from generate_series(1, 5000) i;
    insert into ledger (account_id, kind, amount) select 1 + i % ${accounts}, 1, 1 from generate_series(1, 5000) i`)
  await client.end()
}

/**
 * Creates a database with the rows of `fillDatabase`, as a copy of a database that is filled once in a run. Autovacuum
 * is off in it, so that no table has statistics.
 */
export const filledDatabase = (): Promise<FreshDatabase> =>
  preparedDatabase('filled', async (connectionString) => {
    const client = new Client({ connectionString })
    await client.connect()
    await client.query('select add_partition(3)')
    await stopAutovacuum(client)
    await client.end()
    await fillDatabase(connectionString)
  })

/** Tables whose rows are inserted and deleted all the time. */
const comingAndGoing = [
  'due',
  'later',
  'claimed_batch',
  'unmatched_delivery_receipt',
  'inbound_message_offered',
  'inbound_message_parts',
  'suppression',
  'login_failure',
  'webhook_event',
  'webhook_list',
  'smpp_part',
  'smpp_delivery',
]

/**
 * Makes the planner believe that the changing tables have six rows, although they are full again. With such statistics
 * the planner once chose to read the whole queue for each claimed message.
 */
export async function analyzeNearlyEmpty(connectionString: string): Promise<void> {
  const client = new Client({ connectionString })
  await client.connect()
  for (const table of comingAndGoing) {
    await client.query(`
      create temp table kept as select * from ${table};
      delete from ${table} where ctid not in (select ctid from ${table} limit 6)`)
    await client.query(`vacuum analyze ${table}`)
    await client.query(`
      insert into ${table} overriding system value select * from kept on conflict do nothing;
      drop table kept`)
  }
  await client.end()
}

/** Turns autovacuum off, so that plans stay as they are. */
export async function stopAutovacuum(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select relname name from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'`,
  )
  for (const { name } of rows) await client.query(`alter table ${name} set (autovacuum_enabled = off)`)
}

/**
 * Empties the changing tables and vacuums them, so that they have no page left, as after autovacuum. Returns a function
 * that restores the rows.
 */
export async function emptied(client: Client): Promise<() => Promise<void>> {
  for (const table of comingAndGoing) {
    await client.query(`create temp table kept_${table} as select * from ${table}; delete from ${table}`)
  }
  await vacuumAll(client)
  return async () => {
    for (const table of comingAndGoing) {
      await client.query(`insert into ${table} overriding system value select * from kept_${table}`)
    }
  }
}

/** Vacuums all tables. A table that is vacuumed while empty has no page, and the planner assumes no rows in it. */
export async function vacuumAll(client: Client): Promise<void> {
  const { rows } = await client.query<{ tables: string }>(
    `select string_agg(relname, ', ') tables from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')`,
  )
  await client.query(`vacuum ${rows[0]?.tables ?? ''}`)
}

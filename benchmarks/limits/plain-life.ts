import type pg from 'pg'
import { numberAt } from '../loads/numbers.ts'
import { text } from '../loads/send-requests.ts'
import { closeClients, openClients } from './connections.ts'

/**
 * Design of most gateways: one table with a row and text for each recipient, a state that is updated in place, and
 * indexes for the queue (partial, so that it stays small), the list of an account, the carrier's id and the number.
 */
export const plainTables = `
create table plain_account (id int primary key, balance bigint not null) with (fillfactor=50);
insert into plain_account select g, 1000000000000 from generate_series(1, 1000) g;
create table plain_message (
  id bigint generated always as identity primary key,
  account_id int not null,
  msisdn bigint not null,
  price int not null,
  state smallint not null default 0,
  code smallint,
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  done_at timestamptz,
  carrier_id text,
  body text not null
) with (fillfactor=70);
create index on plain_message (id) where state = 0;
create index on plain_message (account_id, created_at);
create index on plain_message (carrier_id);
create index on plain_message (msisdn)`

export interface PlainLife {
  readonly connectionString: string
  /** Maximum number of messages to accept. The run ends earlier if its time is over. */
  readonly messages?: number
  readonly seconds?: number
  /** Index of the first number in the list of test numbers. */
  readonly firstNumber: number
  /** Number of messages in one accept. An accept inserts one row for each message and one debit. */
  readonly perAccept: number
  readonly acceptConnections: number
}

const accept = `with a as (update plain_account set balance = balance - $3::int * cardinality($2::bigint[]) where id = $1::int and balance >= 0)
  insert into plain_message (account_id, msisdn, price, body) select $1::int, n, $3::int, $4::text from unnest($2::bigint[]) n`
const claim = `update plain_message set state = 1
  where id in (select id from plain_message where state = 0 order by id limit $1::int for update skip locked) returning id, msisdn, body`
const record = `update plain_message m set state = 2, sent_at = now(), carrier_id = u.carrier_id, code = 100
  from unnest($1::bigint[], $2::text[]) u(id, carrier_id) where m.id = u.id`
const receipts = `update plain_message m set state = 3, done_at = now(), code = 0
  from unnest($1::text[]) u(carrier_id) where m.carrier_id = u.carrier_id`

const slice = 500
const dispatchers = 2

/**
 * Accepts messages and concurrently moves each set through all its states, without processes of the gateway and without
 * a carrier.
 */
export async function runPlainLife(life: PlainLife) {
  const { connectionString, messages = Infinity, seconds = Infinity, perAccept } = life
  const accepting = await openClients(connectionString, life.acceptConnections)
  const dispatching = await openClients(connectionString, dispatchers)
  const run = Math.random().toString(36).slice(2, 8)
  let begun = 0
  let isAccepted = false
  let delivered = 0
  const start = performance.now()

  async function acceptAll(client: pg.Client): Promise<void> {
    while (begun < messages && performance.now() < start + seconds * 1000) {
      const first = begun
      begun += perAccept
      const numbers = Array.from({ length: perAccept }, (_, i) => numberAt(life.firstNumber + first + i))
      const account = 1 + ((first / perAccept) % 1000)
      await client.query({ name: 'accept', text: accept, values: [account, `{${numbers.join()}}`, 10, text] })
    }
  }

  async function dispatch(client: pg.Client): Promise<void> {
    for (;;) {
      const mayBeLast = isAccepted
      const { rows } = await client.query<{ id: string }>({ name: 'claim', text: claim, values: [slice] })
      if (rows.length === 0) {
        if (mayBeLast) return
        await new Promise((resolve) => setTimeout(resolve, 5))
        continue
      }
      const references = rows.map(({ id }) => `${run}-${id}`).join()
      const ids = rows.map(({ id }) => id).join()
      await client.query({ name: 'record', text: record, values: [`{${ids}}`, `{${references}}`] })
      await client.query({ name: 'receipts', text: receipts, values: [`{${references}}`] })
      delivered += rows.length
    }
  }

  const accepted = Promise.all(accepting.map(acceptAll)).then(() => (isAccepted = true))
  await Promise.all([accepted, ...dispatching.map(dispatch)])
  const took = (performance.now() - start) / 1000
  await closeClients([...accepting, ...dispatching])
  return { messages: begun, delivered, seconds: took }
}

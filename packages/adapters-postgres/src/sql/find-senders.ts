import type { PreparedStatement } from './prepared-statement.ts'

interface SenderRow {
  readonly id: number
  readonly address: string
}

/** The numbers of those of the addresses $1 that have one. */
export const findSenders: PreparedStatement<SenderRow> = {
  name: 'find-senders',
  text: 'select id, address from sender where address = any ($1::text[])',
}

/** Gives numbers to those of the addresses $1 that have none. May be run again. */
export const addSenders: PreparedStatement<object> = {
  name: 'add-senders',
  text: `
insert into sender (address) select a from unnest($1::text[]) a
where not exists (select from sender where address = a) order by a on conflict do nothing`,
}

/** The addresses that the numbers $1 stand for. */
export const senderAddresses: PreparedStatement<SenderRow> = {
  name: 'sender-addresses',
  text: 'select id, address from sender where id = any ($1::int[])',
}

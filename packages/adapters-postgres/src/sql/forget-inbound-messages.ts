import type { PreparedStatement } from './prepared-statement.ts'

/** The digests $1 repeat nothing from now on. In their order, as they are noted. */
export const forgetInboundMessages: PreparedStatement<object> = {
  name: 'forget-inbound-messages',
  text: `
delete from inbound_message_seen
where key = any (array(select key from unnest($1::uuid[]) key order by key))`,
}

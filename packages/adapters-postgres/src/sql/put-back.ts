import type { PreparedStatement } from './prepared-statement.ts'

/** What operation $2 has taken of account $1 is offered again. May be run again. */
export const putBack: PreparedStatement<object> = {
  name: 'put-back',
  text: `
with taken as (
  delete from inbound_message_taken
  where operation = $2::uuid and account_id = $1::int
  returning inbound_message_ids
)
insert into inbound_message_offered (account_id, at, inbound_message_id, to_code)
select message.account_id, message.at, message.id, message.short_code is not null
from taken
cross join lateral unnest(inbound_message_ids) given(id)
cross join lateral (select * from inbound_message where id = given.id offset 0) message`,
}

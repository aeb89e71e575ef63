import { OUTCOME } from '@gateway/core'

// Which messages count, and which of two is the later one, is core's `isContact` and `laterContact`.
export const keepContacts = `
-- Who wrote last to each number from each address, of the messages p_lo to p_hi - 1 that a carrier took or may have taken.
create function keep_contacts(p_lo bigint, p_hi bigint) returns void language sql as $$
  insert into last_contact (msisdn, sender, account_id, message_id, at)
  select distinct on (msisdn, sender) msisdn, sender, account_id, id, sent_at from message
  where id >= p_lo and id < p_hi and not confirms_opt_out and (carrier_id is not null or code = ${OUTCOME.unknown})
  order by msisdn, sender, sent_at desc, id desc
  on conflict (msisdn, sender) do update set account_id = excluded.account_id, message_id = excluded.message_id, at = excluded.at
  where (last_contact.at, last_contact.message_id) < (excluded.at, excluded.message_id)
$$;
`

import type { Migration } from './migration.ts'

// A number instead of the address is all that a message row carries: it has had the column from the beginning, and nothing that is
// written for every message has become wider.
//
// The sign tells what copies the column without knowing of it (every statement that makes a message row) that a message confirms
// an opt-out: below 0 it does, and the address is that of the number without its sign. Such a message is nobody's last word to a number.
const senders = `
create table sender (                             -- every address that messages leave from, or that is an account's
  id int generated always as identity primary key,
  address text not null unique,
  account_id int references account,              -- whose short or long code it is; null: nobody's, of the pool or of old
  assigned_at timestamptz
);
create index sender_account on sender (account_id) where account_id is not null;
comment on column send.sender is 'sender.id; 0: none known, as of all that was accepted before there were any; below 0: it confirms an opt-out, and leaves from -sender';
comment on column message.sender is 'as of its send; 0 also where a version before this one recorded it';

create table chosen_sender (                      -- by which address of the pool a number hears each account
  msisdn bigint primary key,
  accounts int[] not null,
  senders int[] not null,                         -- of each account, in the same place
  since timestamptz not null default now()        -- when it was last changed, or seen to be in use still
);
create index chosen_sender_since on chosen_sender (since);

-- Of the addresses p_turned, in order of preference: the one that p_account has already, else the first that no other has, else the first.
create function choose_sender(p_accounts int[], p_senders int[], p_account int, p_turned int[]) returns int language sql immutable as $$
  select coalesce(
    (select s from unnest(p_accounts, p_senders) c(a, s) where a = p_account and s = any (p_turned)),
    (select s from unnest(p_turned) with ordinality t(s, n)
      where not exists (select from unnest(p_accounts, p_senders) c(a, s) where c.a <> p_account and c.s = t.s) order by n limit 1),
    p_turned[1])
$$;
`

const keepContacts = `
-- Who wrote last to each number from each address, of the messages p_lo to p_hi - 1 that a carrier took or may have taken.
create or replace function keep_contacts(p_lo bigint, p_hi bigint) returns void language sql as $$
  insert into last_contact (msisdn, sender, account_id, message_id, at)
  select distinct on (msisdn, sender) msisdn, sender, account_id, id, sent_at from message
  where id >= p_lo and id < p_hi and sender >= 0 and (carrier_id is not null or code = 106)
  order by msisdn, sender, sent_at desc, id desc
  on conflict (msisdn, sender) do update set account_id = excluded.account_id, message_id = excluded.message_id, at = excluded.at
  where (last_contact.at, last_contact.message_id) < (excluded.at, excluded.message_id)
$$;
`

export const senderNumbers: Migration = {
  version: 6,
  name: 'senders',
  sql: senders + keepContacts,
}

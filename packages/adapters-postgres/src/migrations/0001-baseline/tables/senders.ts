// A number instead of the address is all that a row of a message carries.
export const senders = `
create table sender (                             -- every address that messages leave from, or that is an account's
  id int generated always as identity primary key,
  address text not null unique,
  account_id int references account,              -- whose short or long code it is; null: no account's, of the pool or of old
  assigned_at timestamptz
);
create index sender_account on sender (account_id) where account_id is not null;

create table chosen_sender (                      -- by which address of the pool a number hears each account
  msisdn bigint primary key,
  accounts int[] not null,
  senders int[] not null,                         -- of each account, in the same place
  since timestamptz not null default now()        -- when it was last changed, or seen to be in use still
);
create index chosen_sender_since on chosen_sender (since);

create table last_contact (                       -- of dropped messages: who wrote last to a number from an address
  msisdn bigint not null,
  sender int not null,
  account_id int not null,
  message_id bigint not null,
  at timestamptz not null,
  primary key (msisdn, sender)
);
create index last_contact_at on last_contact (at);
`

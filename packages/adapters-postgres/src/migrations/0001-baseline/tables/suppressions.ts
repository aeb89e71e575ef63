// The replies of opt-outs are beside their table: columns made it look so wide that claims, without statistics, read all
// entries of an account.
export const suppressions = `
create table suppression (
  account_id int not null,                        -- 0: everybody
  msisdn bigint not null,
  kind smallint not null,                         -- 1 opt-out, 2 do-not-contact, 3 blacklist
  since timestamptz not null,
  primary key (account_id, msisdn, kind)
);
-- Every row meets the condition, which keeps this index for the lists, which name a kind: the entries of a number are found by the
-- primary key.
create index suppression_list on suppression (account_id, kind, (msisdn::text) collate "C") where kind in (1, 2, 3);

create table opt_out_reply (                      -- the reply that made an opt-out; holds for the entry of the same moment only
  account_id int not null,
  msisdn bigint not null,
  since timestamptz not null,
  inbound_message_id bigint,                      -- null: imported with its text
  text text not null,
  answers bigint,
  primary key (account_id, msisdn)
);
`

export const credits = `
create table ledger (                             -- all but the debits of sends: balance = sum(ledger.amount) - sum(send.n * send.price)
  id bigint generated always as identity primary key,
  account_id int not null,
  kind smallint not null,                         -- 1 top-up, 2 transfer, 3 refund, 4 debits of a dropped partition
  amount bigint not null,
  send_first_id bigint,
  at timestamptz not null default now(),
  code smallint,                                  -- of a refund: the final code of its messages
  other_account_id int,                           -- of a transfer: where to, or where from
  why text,                                       -- of a top-up and a refund by hand: what its operator said; of dropped sends: which
  message_id bigint,                              -- of a refund by hand: its message
  operation uuid                                  -- made by its caller before it began: what became of it can be looked up
);
create index ledger_account on ledger (account_id, id);

create table price (                              -- of one part of a message, by number prefix
  prefix text primary key,
  price int not null check (price >= 0)           -- tenths of a credit
);
create table account_price (                      -- of one account; its longest prefix that fits comes before every row of price
  account_id int not null references account,
  prefix text not null,
  price int not null check (price >= 0),
  primary key (account_id, prefix)
);
insert into price (prefix, price) values ('', 10);
`

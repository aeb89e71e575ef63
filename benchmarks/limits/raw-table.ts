/** Table with the minimum data of a message and only the primary key as index. */
export const rawTable = `
create table raw_recipient (
  id bigint generated always as identity primary key,
  account_id int not null,
  msisdn bigint not null,
  price int not null,
  body text not null,
  at timestamptz not null default now()
)`

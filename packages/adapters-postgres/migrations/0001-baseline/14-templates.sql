create table template (                           -- texts that an account holder has saved
  id bigint generated always as identity primary key,
  account_id int not null references account,
  name text not null,
  text text not null,
  unique (account_id, name)
);

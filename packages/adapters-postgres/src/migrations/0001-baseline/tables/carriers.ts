// Statuses are unlogged: what a process tells it tells again within seconds.
export const carriers = `
create unlogged table carrier_status (            -- what processes that dispatch tell of their carriers, for operators
  process text not null,                          -- one run of a process
  host text not null,
  pid int not null,
  carrier text not null,
  report text not null,                           -- JSON of core's CarrierReport
  told_at timestamptz not null,
  primary key (process, carrier)
);

create table carrier_bind (                       -- binds of a carrier that processes share; logged: it must survive a crash
  carrier text not null,
  number int not null,                            -- 1 to the number of binds that the carrier allows
  holder text not null,                           -- one carrier of one run of a process
  lease_until timestamptz not null,
  primary key (carrier, number)
);

create table carrier_version (                    -- carriers and routes of the deployment; the last one is in force
  version int primary key,                        -- from 1
  sealed text not null,                           -- the document with its secrets, encrypted with SECRETS_KEY
  digest text not null,                           -- of what it says, secrets left out
  carriers text[] not null,                       -- their names
  stored_at timestamptz not null default now(),
  stored_by text not null
);

create table carrier_user (                       -- processes that dispatch, and the version that they work with
  process text primary key,                       -- one run of a process
  host text not null,
  pid int not null,
  version int not null,                           -- 0: none is stored
  simulated text,                                 -- the simulated carriers that it has without a version
  lease_until timestamptz not null
);
`

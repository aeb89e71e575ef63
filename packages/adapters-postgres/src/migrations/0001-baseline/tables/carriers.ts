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
`

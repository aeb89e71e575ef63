// Unlogged: what a process tells it tells again within seconds.
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
`

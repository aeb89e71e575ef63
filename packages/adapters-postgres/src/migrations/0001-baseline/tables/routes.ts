// Numbers are given for ever: sends and what waits name them.
export const routes = `
create sequence queue_number as smallint;         -- of queues; that of a route is the number of its first one
create table route (                              -- which carriers take a message
  id smallint primary key default nextval('queue_number'),
  name text not null unique,
  position smallint,                              -- the order in which routes are tried; null: not published any more
  prefixes text[] not null,                       -- conditions, each empty: any
  accounts int[] not null,
  senders text[] not null,
  carriers text[] not null,
  priorities smallint[] not null,                 -- of each carrier, in the same place
  weights smallint[] not null
);

create table queue (                              -- what waits in one queue is claimed together; 0: no route, any carrier
  id smallint primary key default nextval('queue_number'),
  route smallint not null,
  refused_by text not null,                       -- the carrier that refused for now; '': none
  unique (route, refused_by)
);
insert into queue (id, route, refused_by) values (0, 0, '');
`

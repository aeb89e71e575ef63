// Keys of clients are as long as they like; 16 bytes and one column are looked up for a third less. The digest tells whether a request
// that comes again is the same.
export const clientRequests = `
create table client_request (                     -- sends and transfers with an idempotency key and their first answers, for 48 hours
  account_id int not null,                        -- who asked
  key uuid primary key,                           -- 128 bits of SHA-256 of the account and its key
  digest uuid not null,                           -- 128 bits of SHA-256 of what was asked for
  at timestamptz not null default now(),
  balance bigint,                                 -- of a send: right after it
  answer text not null                            -- of a send: ids, costs and refusals; of a transfer: its result
);
create index client_request_at on client_request (at);
`

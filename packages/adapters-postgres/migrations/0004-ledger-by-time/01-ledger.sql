-- Pages of an account statement are read by time. Sums of dropped sends count at an earlier time than their entry, so
-- they have an index of their own.
create index ledger_by_time on ledger (account_id, at, id) where kind <> 4 /* LEDGER.droppedSends */;
create index ledger_dropped_sends on ledger (account_id, id) where kind = 4 /* LEDGER.droppedSends */;

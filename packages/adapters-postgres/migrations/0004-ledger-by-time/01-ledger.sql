-- Pages of a statement are read by time. Sums of dropped sends count as of an earlier time, and are found apart.
create index ledger_by_time on ledger (account_id, at, id) where kind <> 4 /* LEDGER.droppedSends */;
create index ledger_dropped_sends on ledger (account_id, id) where kind = 4 /* LEDGER.droppedSends */;

-- Seconds by lane after which waiting messages go to the next carrier with room; null: the default of the program.
alter table route add column overflow jsonb;

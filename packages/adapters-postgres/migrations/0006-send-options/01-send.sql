-- Options of a send that no statement decides by, as one value; null: none. The others have columns of their own.
alter table send add column options jsonb;

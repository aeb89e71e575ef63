-- Options of a send that no statement decides by, as one value; null: none. Other options have columns of their own.
alter table send add column options jsonb;

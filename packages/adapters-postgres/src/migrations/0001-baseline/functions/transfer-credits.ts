// Both accounts are locked in the order of their ids before anything is decided: a single statement that did it all deadlocked, or
// found a balance that was gone, in one of six races.
export const transferCredits = `
-- Moves credits, or says why it did not. Null: one of the accounts is not there.
create function transfer_credits(p_from int, p_to int, p_amount bigint, p_at timestamptz, p_operation uuid)
returns text language plpgsql as $$
declare f account; t account;
begin
  perform 1 from account where id in (p_from, p_to) order by id for no key update;
  select * into f from account where id = p_from;
  select * into t from account where id = p_to;
  if f.id is null or t.id is null then return null; end if;
  if f.locked then return 'from-locked'; end if;
  if t.locked then return 'to-locked'; end if;
  if f.balance < p_amount then return 'insufficient-credits'; end if;
  if t.balance > 9007199254740991 - p_amount then return 'failed'; end if;
  update account set balance = balance + case id when p_from then -p_amount else p_amount end where id in (p_from, p_to);
  insert into ledger (account_id, kind, amount, at, other_account_id, operation) values
    (p_from, 2, -p_amount, p_at, p_to, p_operation),
    (p_to, 2, p_amount, p_at, p_from, p_operation);
  return 'done';
end $$;
`

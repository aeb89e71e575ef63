import { balanceMax } from '@gateway/core'
import { LEDGER } from '../../../credits/ledger-kind.ts'

// Both accounts are locked in the order of their ids before anything is decided: a single statement that did it all deadlocked, or
// found a balance that was gone, in one of six races. Decided in core, the locks were held for four round trips, and others refused.
export const transferCredits = `
-- Moves credits, or says why it did not, as core's transferFailure. Null: one of the accounts is not there.
create function transfer_credits(p_from int, p_to int, p_amount bigint, p_at timestamptz, p_operation uuid)
returns text language plpgsql as $$
declare sender account; receiver account;
begin
  perform 1 from account where id in (p_from, p_to) order by id for no key update;
  select * into sender from account where id = p_from;
  select * into receiver from account where id = p_to;
  if sender.id is null or receiver.id is null then return null; end if;
  if sender.locked then return 'from-account-locked'; end if;
  if receiver.locked then return 'to-account-locked'; end if;
  if sender.balance < p_amount then return 'insufficient-credits'; end if;
  if receiver.balance > ${balanceMax} - p_amount then return 'failed'; end if;
  update account set balance = balance + case id when p_from then -p_amount else p_amount end where id in (p_from, p_to);
  insert into ledger (account_id, kind, amount, at, other_account_id, operation) values
    (p_from, ${LEDGER.transfer}, -p_amount, p_at, p_to, p_operation),
    (p_to, ${LEDGER.transfer}, p_amount, p_at, p_from, p_operation);
  return 'done';
end $$;
`

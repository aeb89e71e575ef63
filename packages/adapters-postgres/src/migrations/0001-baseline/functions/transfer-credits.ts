import { balanceMax, firstAnswerSeconds } from '@gateway/core'
import { LEDGER } from '../../../credits/ledger-kind.ts'

// Both accounts are locked in the order of their ids before anything is decided: a single statement that did it all deadlocked, or
// found a balance that was gone, in one of six races. Decided in core, the locks were held for four round trips, and others refused.
export const transferCredits = `
-- Moves credits, or says why it did not, as core's transferFailure. Null: one of the accounts is not there. With a key the result is
-- kept as the answer to p_asker, but not that it failed; 'repeated': the key has an answer.
create function transfer_credits(p_from int, p_to int, p_amount bigint, p_at timestamptz, p_operation uuid, p_asker int, p_key uuid, p_digest uuid)
returns text language plpgsql as $$
declare sender account; receiver account; v_result text;
begin
  perform 1 from account where id in (p_from, p_to, p_asker) order by id for no key update;
  select * into sender from account where id = p_from;
  select * into receiver from account where id = p_to;
  if sender.id is null or receiver.id is null then return null; end if;
  if p_key is not null then
    delete from client_request where key = p_key and at <= now() - interval '${firstAnswerSeconds} s';
    if exists (select from client_request where key = p_key) then return 'repeated'; end if;
  end if;
  v_result := case
    when sender.locked then 'from-account-locked'
    when receiver.locked then 'to-account-locked'
    when sender.balance < p_amount then 'insufficient-credits'
    when receiver.balance > ${balanceMax} - p_amount then 'failed'
    else 'done'
  end;
  if p_key is not null and v_result <> 'failed' then
    insert into client_request (account_id, key, digest, answer) values (p_asker, p_key, p_digest, v_result);
  end if;
  if v_result <> 'done' then return v_result; end if;
  update account set balance = balance + case id when p_from then -p_amount else p_amount end where id in (p_from, p_to);
  insert into ledger (account_id, kind, amount, at, other_account_id, operation) values
    (p_from, ${LEDGER.transfer}, -p_amount, p_at, p_to, p_operation),
    (p_to, ${LEDGER.transfer}, p_amount, p_at, p_from, p_operation);
  return 'done';
end $$;
`

import { firstAnswerSeconds } from '@gateway/core/client-requests'
import { balanceMax } from '@gateway/core/credits'
import { sql } from '../sql/statement.ts'
import { LEDGER } from '../stored-codes.ts'

/**
 * Returns the accounts that have a stored answer under one of these keys. Each account has one key. The caller holds
 * the locks of the `p_locked` accounts, and rows are inserted under these locks only. This is a function, because each
 * of its statements has a snapshot of its own: the statement that waited for the locks would not see rows that were
 * inserted meanwhile.
 */
const keysInUse = sql`
create or replace function keys_in_use(p_locked bigint, p_accounts int[], p_keys uuid[])
returns int[] language plpgsql as $$
begin
  return array(
    select request.account_id
    from unnest(p_accounts, p_keys) request(account_id, key)
    cross join lateral (
      select from client_request kept where kept.key = request.key offset 0
    ) found
  );
end $$;
`

/**
 * Transfers credits. Returns 'done' or one of core's `TransferFailure`, or null if one of the accounts does not exist.
 * With a key, it stores the result as the answer to `p_asker`, unless the transfer failed. Returns 'repeated' if the
 * key has an answer. Both accounts are locked in the order of their ids before anything is decided. With a single
 * statement instead, one of six races deadlocked or found that the balance was already spent.
 */
const transferCredits = sql`
create or replace function transfer_credits(p_from int, p_to int, p_amount bigint, p_at timestamptz, p_operation uuid,
  p_asker int, p_key uuid, p_digest uuid)
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
  update account set balance = balance + case id when p_from then -p_amount else p_amount end
    where id in (p_from, p_to);
  insert into ledger (account_id, kind, amount, at, other_account_id, operation) values
    (p_from, ${LEDGER.transfer}, -p_amount, p_at, p_to, p_operation),
    (p_to, ${LEDGER.transfer}, p_amount, p_at, p_from, p_operation);
  return 'done';
end $$;
`

export const creditFunctions = [keysInUse, transferCredits]

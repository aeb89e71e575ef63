// A function, since each of its statements sees what was committed until it began: whoever holds the locks of the accounts, under which
// alone rows come, sees all of them. In the statement that waited for these locks they would be missing.
export const keysInUse = `
-- Accounts that have a row under one of these keys, each its own. Its caller holds the locks of p_locked accounts.
create function keys_in_use(p_locked bigint, p_accounts int[], p_keys uuid[]) returns int[] language plpgsql as $$
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

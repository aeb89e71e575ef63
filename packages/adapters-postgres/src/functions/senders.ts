import { sql } from '../sql/statement.ts'

/**
 * Chooses from the addresses `p_turned`, which are in order of preference. Returns the address that the account already
 * uses, else the first one that no other account uses, else the first one.
 */
export const chooseSender = sql`
create or replace function choose_sender(p_accounts int[], p_senders int[], p_account int, p_turned int[]) returns int
  language sql immutable as $$
  select coalesce(
    (select s from unnest(p_accounts, p_senders) c(a, s) where a = p_account and s = any (p_turned)),
    (select s from unnest(p_turned) with ordinality t(s, n)
      where not exists (select from unnest(p_accounts, p_senders) c(a, s) where c.a <> p_account and c.s = t.s)
        order by n limit 1),
    p_turned[1])
$$;
`

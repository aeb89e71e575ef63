import type { PreparedStatement } from './prepared-statement.ts'

/** The addresses that were chosen for the accounts $1 and the numbers $2, pair by pair: place from 1, number of the address. */
export const chosenSenders: PreparedStatement<{ place: number; sender: number }> = {
  name: 'chosen-senders',
  text: `
select u.place, c.senders[array_position(c.accounts, u.account)] as sender
from unnest($1::int[], $2::bigint[]) with ordinality u(account, number, place)
cross join lateral (select accounts, senders from chosen_sender where msisdn = u.number offset 0) c
where u.account = any (c.accounts)`,
}

/**
 * Chooses for account $1 and the numbers $2, each once, of the addresses $3, in order of preference. Decided on the locked row, so that
 * two accounts that ask at the same time are told different ones. May be run again: what was chosen stays.
 */
export const chooseSenders: PreparedStatement<{ number: number; sender: number }> = {
  name: 'choose-senders',
  text: `
insert into chosen_sender as c (msisdn, accounts, senders)
select n, array[$1::int], array[($3::int[])[1]] from unnest($2::bigint[]) n order by n
on conflict (msisdn) do update set since = now(),
  accounts = case when $1::int = any (c.accounts) then c.accounts else c.accounts || $1::int end,
  senders = case when $1::int = any (c.accounts)
    then array(select case when a = $1::int then choose_sender(c.accounts, c.senders, $1::int, $3::int[]) else s end
      from unnest(c.accounts, c.senders) with ordinality x(a, s, n) order by n)
    else c.senders || choose_sender(c.accounts, c.senders, $1::int, $3::int[]) end
returning c.msisdn as number, c.senders[array_position(c.accounts, $1::int)] as sender`,
}

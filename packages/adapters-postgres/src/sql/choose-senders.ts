import type { PreparedStatement } from './prepared-statement.ts'

/** The addresses that were chosen for the accounts $1 and the numbers $2, pair by pair: place from 1, number of the address. */
export const chosenSenders: PreparedStatement<{ place: number; sender: number }> = {
  name: 'chosen-senders',
  text: `
select asked.place, chosen.senders[array_position(chosen.accounts, asked.account)] as sender
from unnest($1::int[], $2::bigint[]) with ordinality asked(account, number, place)
cross join lateral (select accounts, senders from chosen_sender where msisdn = asked.number offset 0) chosen
where asked.account = any (chosen.accounts)`,
}

/**
 * Chooses for account $1 and the numbers $2, each once, of the addresses $3, in order of preference. Decided on the locked row, so that
 * two accounts that ask at the same time are told different ones. May be run again: what was chosen stays.
 */
export const chooseSenders: PreparedStatement<{ number: number; sender: number }> = {
  name: 'choose-senders',
  text: `
insert into chosen_sender as chosen (msisdn, accounts, senders)
select number, array[$1::int], array[($3::int[])[1]]
from unnest($2::bigint[]) number
order by number
on conflict (msisdn) do update set since = now(),
  accounts = case when $1::int = any (chosen.accounts) then chosen.accounts else chosen.accounts || $1::int end,
  senders = case when $1::int = any (chosen.accounts)
    then array(
      select case when account = $1::int then choose_sender(chosen.accounts, chosen.senders, $1::int, $3::int[]) else sender end
      from unnest(chosen.accounts, chosen.senders) with ordinality before(account, sender, place)
      order by place
    )
    else chosen.senders || choose_sender(chosen.accounts, chosen.senders, $1::int, $3::int[]) end
returning chosen.msisdn as number, chosen.senders[array_position(chosen.accounts, $1::int)] as sender`,
}

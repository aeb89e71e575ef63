import { msisdn, senderAddress } from './columns.ts'
import { sql, statement } from './statement.ts'

/** Returns the ids of the addresses that have one. */
export const findSenders = statement(
  'find-senders',
  { parameters: { addresses: 'text[]' }, columns: { id: 'int', address: senderAddress } },
  sql`select id, address from sender where address = any (:addresses)`,
)

/** Stores the addresses that have no id yet. May be run again. */
export const addSenders = statement(
  'add-senders',
  { parameters: { addresses: 'text[]' } },
  sql`
insert into sender (address) select a from unnest(:addresses) a
where not exists (select from sender where address = a) order by a on conflict do nothing`,
)

/** Returns the addresses with these ids. */
export const senderAddresses = statement(
  'sender-addresses',
  { parameters: { numbers: 'int[]' }, columns: { id: 'int', address: senderAddress } },
  sql`select id, address from sender where id = any (:numbers)`,
)

/**
 * Returns the ids of addresses that were chosen earlier for pairs of account and number. `place` is the index of the
 * pair, from 1.
 */
export const chosenSenders = statement(
  'chosen-senders',
  { parameters: { accounts: 'int[]', numbers: 'bigint[]' }, columns: { place: 'bigint', sender: 'int' } },
  sql`
select asked.place, chosen.senders[array_position(chosen.accounts, asked.account)] as sender
from unnest(:accounts, :numbers) with ordinality asked(account, number, place)
cross join lateral (select accounts, senders from chosen_sender where msisdn = asked.number offset 0) chosen
where asked.account = any (chosen.accounts)`,
)

/**
 * Chooses the sender from which an account sends to each of the distinct `numbers`. Keeps an earlier choice that is in
 * `senders`. Otherwise chooses the first of `senders` that no other account uses for the number; if other accounts use
 * all of them, chooses the first one. Locks the row of each number, so that of two accounts that choose concurrently
 * the second sees the choice of the first. Repeating the statement does not change a choice.
 */
export const chooseSenders = statement(
  'choose-senders',
  {
    parameters: { account: 'int', numbers: 'bigint[]', senders: 'int[]' },
    columns: { number: msisdn, sender: 'int' },
  },
  sql`
insert into chosen_sender as chosen (msisdn, accounts, senders)
select number, array[:account], array[(:senders)[1]]
from unnest(:numbers) number
order by number
on conflict (msisdn) do update set since = now(),
  accounts = case when :account = any (chosen.accounts) then chosen.accounts else chosen.accounts || :account end,
  senders = case when :account = any (chosen.accounts)
    then array(
      select case
        when account = :account then choose_sender(chosen.accounts, chosen.senders, :account, :senders)
        else sender
      end
      from unnest(chosen.accounts, chosen.senders) with ordinality before(account, sender, place)
      order by place
    )
    else chosen.senders || choose_sender(chosen.accounts, chosen.senders, :account, :senders) end
returning chosen.msisdn::text as number, chosen.senders[array_position(chosen.accounts, :account)] as sender`,
)

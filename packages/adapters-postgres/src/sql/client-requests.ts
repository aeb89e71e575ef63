import { firstAnswerSeconds } from '@gateway/core/client-requests'
import { sql, statement } from './statement.ts'

const since = `now() - interval '${firstAnswerSeconds} s'`

/** Finds the response stored under the key, and returns whether its request had the digest. */
export const findFirstAnswer = statement(
  'find-first-answer',
  { parameters: { key: 'uuid', digest: 'uuid' }, columns: { same: 'bool', answer: 'text', balance: 'bigint?' } },
  sql`
select digest = :digest same, answer, balance
from client_request
where key = :key and at > ${since}`,
)

/**
 * Stores the response to a request under its key and returns a row, or returns none if the key has a response already.
 * Locks the account, as every statement does that stores a response. May be run again.
 */
export const keepFirstAnswer = statement(
  'keep-first-answer',
  {
    parameters: {
      ...{ account: 'int', key: 'uuid', digest: 'uuid', answer: 'text', balance: 'bigint?', ageSeconds: 'float8' },
    },
    columns: { kept: 'bool' },
  },
  sql`
with asker as (
  select id from account where id = :account for no key update
)
insert into client_request as before (account_id, key, digest, answer, balance, at)
select id, :key, :digest, :answer, :balance, now() - make_interval(secs => :ageSeconds) from asker
on conflict (key) do update
set digest = excluded.digest, answer = excluded.answer, balance = excluded.balance, at = excluded.at
where before.at <= ${since}
returning true as kept`,
)

/** Returns which of the keys have a response. Frees keys whose response has expired. */
export const keysWithAnswers = statement(
  'keys-with-answers',
  { parameters: { keys: 'uuid[]' }, columns: { key: 'uuid' } },
  sql`
with free as (
  delete from client_request
  where key = any (:keys) and at <= ${since}
)
select key
from client_request
where key = any (:keys) and at > ${since}`,
)

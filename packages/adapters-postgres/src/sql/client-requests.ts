import { firstAnswerSeconds } from '@gateway/core/client-requests'
import { sql, statement } from './statement.ts'

const since = `now() - interval '${firstAnswerSeconds} s'`

/** The answer that is kept under the key, and whether its request had the digest. */
export const findFirstAnswer = statement(
  'find-first-answer',
  { parameters: { key: 'uuid', digest: 'uuid' }, columns: { same: 'bool', answer: 'text', balance: 'bigint?' } },
  sql`
select digest = :digest same, answer, balance
from client_request
where key = :key and at > ${since}`,
)

/**
 * Keeps the answer to a request under its key, and returns a row; none if the key has an answer. Under the lock of
 * the account, as all that keep one. May be run again.
 */
export const keepFirstAnswer = statement(
  'keep-first-answer',
  {
    parameters: { account: 'int', key: 'uuid', digest: 'uuid', answer: 'text', balance: 'bigint?' },
    columns: { kept: 'bool' },
  },
  sql`
with asker as (
  select id from account where id = :account for no key update
)
insert into client_request as before (account_id, key, digest, answer, balance)
select id, :key, :digest, :answer, :balance from asker
on conflict (key) do update
set digest = excluded.digest, answer = excluded.answer, balance = excluded.balance, at = now()
where before.at <= ${since}
returning true as kept`,
)

/** Which of the keys have an answer. Those whose answer no longer counts are made free. */
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

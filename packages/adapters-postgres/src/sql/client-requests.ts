import { firstAnswerSeconds } from '@gateway/core'
import type { PreparedStatement } from './prepared-statement.ts'

const since = `now() - interval '${firstAnswerSeconds} s'`

interface Answered {
  readonly same: boolean
  readonly answer: string
  readonly balance: number | null
}

/** The answer that is kept under key $1, and whether its request had the digest $2. */
export const findFirstAnswer: PreparedStatement<Answered> = {
  name: 'find-first-answer',
  text: `
select digest = $2::uuid same, answer, balance
from client_request
where key = $1::uuid and at > ${since}`,
}

/**
 * Keeps answer $4 and balance $5 of a request with the digest $3 under key $2 of account $1, and returns a row; none if the key has an
 * answer. Under the lock of the account, as all that keep one. May be run again.
 */
export const keepFirstAnswer: PreparedStatement<{ kept: boolean }> = {
  name: 'keep-first-answer',
  text: `
with asker as (
  select id from account where id = $1::int for no key update
)
insert into client_request as before (account_id, key, digest, answer, balance)
select id, $2::uuid, $3::uuid, $4::text, $5::bigint from asker
on conflict (key) do update
set digest = excluded.digest, answer = excluded.answer, balance = excluded.balance, at = now()
where before.at <= ${since}
returning true as kept`,
}

/** Which of the keys $1 have an answer. Those whose answer no longer counts are made free. */
export const keysWithAnswers: PreparedStatement<{ key: string }> = {
  name: 'keys-with-answers',
  text: `
with free as (
  delete from client_request
  where key = any ($1::uuid[]) and at <= ${since}
)
select key
from client_request
where key = any ($1::uuid[]) and at > ${since}`,
}

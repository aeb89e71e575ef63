import { othersFailuresMax, sharedSecondsMax } from '@gateway/core'
import type { PreparedStatement } from './prepared-statement.ts'

/** Of so many of the oldest those go that do not count any more: more than come with an exchange. */
const goneMax = 200

/**
 * The process $3 tells that $2 log-ins failed of the users and networks $1, for $4 seconds. Returns what other processes have told of
 * each, by its place in $1, the latest first. The key that is stored is made with the secret of the deployment. Not to be run again.
 */
export const exchangeLoginFailures: PreparedStatement<{ place: number; failures: number; seconds: number }> = {
  name: 'exchange-login-failures',
  text: `
with given as (
  select given.place, given.failures, substr(sha256(secret || convert_to(given.key, 'UTF8')), 1, 16) as key
  from unnest($1::text[], $2::int[]) with ordinality given (key, failures, place)
  cross join login_secret
), told as (
  insert into login_failure (key, counted_by, failures, until)
  select key, $3::uuid, failures, now() + make_interval(secs => least($4::float8, ${sharedSecondsMax})) from given
), oldest as materialized (
  select ctid, until from login_failure where id > 0 order by id limit ${goneMax} for update skip locked
), gone as (
  delete from login_failure where ctid = any (array(select ctid from oldest where until < now()))
)
select given.place::int, others.failures, extract(epoch from others.until - now())::float8 as seconds
from given
cross join lateral (
  select failures, until from login_failure
  where key = given.key and counted_by <> $3::uuid and until > now()
  order by until desc limit ${othersFailuresMax}
) others
order by given.place, others.until desc`,
}

import type { PreparedStatement } from './prepared-statement.ts'

/** Of so many of the oldest those go that count no more: more than come with one. */
const goneMax = 20

/**
 * A log-in failed of the user and network $1. Counted for $3 seconds unless $2 failures count already. Returns how many counted before, $2
 * at most, and when the first of these ends. The key that is stored is made with the secret of the deployment.
 * Not to be run again.
 */
export const countLoginFailure: PreparedStatement<{ earlier: number; seconds: number | null }> = {
  name: 'count-login-failure',
  text: `
with asked as (
  select substr(sha256(secret || convert_to($1::text, 'UTF8')), 1, 16) as key from login_secret
), earlier as materialized (
  select latest.until
  from asked
  cross join lateral (
    select until from login_failure
    where key = asked.key and until > now()
    order by until desc limit $2::int
  ) latest
), counted as (
  insert into login_failure (key, counted_by, failures, until)
  select key, '00000000-0000-0000-0000-000000000000', 1, now() + make_interval(secs => $3::float8) from asked
  where (select count(*) from earlier) < $2::int
), oldest as materialized (
  select ctid, until from login_failure where id > 0 order by id limit ${goneMax} for update skip locked
), gone as (
  delete from login_failure where ctid = any (array(select ctid from oldest where until < now()))
)
select count(*)::int as earlier, extract(epoch from min(until) - now())::float8 as seconds from earlier`,
}

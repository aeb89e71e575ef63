import type { NewSession, SessionBounds, SessionOwner, Sessions } from '@gateway/core/people'
import { sql } from 'kysely'
import type { Context } from '../context.ts'
import { hasRow, isAhead, secondsFromNow } from '../query-parts.ts'
import { findSession, listSessions } from '../sql/sessions.ts'
import { fromRow } from '../sql/statement.ts'
import { digestOf, digestOfColumn } from './password-digest.ts'

/** Columns of a new session, in the order of the query that opens it. */
const newColumns = ['account_id', 'user_id', 'opened_under', 'hash', 'agent', 'address', 'second_factor'] as const

/** Uses the ordinary connections, because people sign in rarely. */
export function postgresSessions({ pools: { kysely, ordinary } }: Context): Sessions {
  const sessionsOf = ({ account, user }: SessionOwner) =>
    kysely
      .deleteFrom('session')
      .where('account_id', '=', account)
      .where('user_id', 'is not distinct from', user ?? null)
      .returning('id')

  return {
    async open({ account, user }, password, session, bounds) {
      // Runs as a separate statement. In one statement with the insert, it could deadlock with the removal of the user,
      // which also locks both.
      await kysely.deleteFrom('session').where('account_id', '=', account).where(isOver(bounds)).execute()
      const opened = kysely
        .insertInto('session')
        .columns(newColumns)
        .expression((query) =>
          query
            .selectFrom('account')
            .innerJoin('directory', 'directory.account_id', 'account.id')
            .leftJoin('account_user', (join) =>
              join.onRef('account_user.account_id', '=', 'account.id').on('account_user.id', '=', user ?? null),
            )
            .where('account.id', '=', account)
            .where('account.locked', '=', false)
            .where((owner) =>
              user === undefined
                ? owner('directory.password_hash', '=', password)
                : owner.and([
                    owner('account_user.password_hash', '=', password),
                    owner('account_user.locked', '=', false),
                  ]),
            )
            .select(['account.id', 'account_user.id as user_id'])
            .select([sql<Buffer>`${digestOf(password)}::bytea`.as('opened_under'), ...valuesOfSession(session)]),
        )
      return (await opened.returning('id').executeTakeFirst())?.id
    },
    /** Stores a sign-in link, and deletes expired ones. */
    async offerLink(account, link, seconds) {
      await kysely
        .deleteFrom('sign_in_link')
        .where(sql<boolean>`until <= now()`)
        .execute()
      const holder = await kysely.selectFrom('account').select('id').where('id', '=', account).executeTakeFirst()
      if (holder === undefined) return false
      const offered = { hash: link, account_id: account, until: secondsFromNow(seconds) }
      await kysely.insertInto('sign_in_link').values(offered).execute()
      return true
    },
    /** Deletes the link in the same statement that opens the session, so that each link works once. */
    async openByLink(link, session) {
      const opened = kysely
        .with('used', (query) =>
          query.deleteFrom('sign_in_link').where('hash', '=', link).returning(['account_id', 'until']),
        )
        .insertInto('session')
        .columns(newColumns)
        .expression((query) =>
          query
            .selectFrom('used')
            .innerJoin('account', 'account.id', 'used.account_id')
            .innerJoin('directory', 'directory.account_id', 'account.id')
            .where(isAhead('until'))
            .where('account.locked', '=', false)
            .where(sql<boolean>`not exists (select from second_factor where owner = 'account ' || account.id)`)
            .select(['account.id', sql<null>`null::int`.as('user_id')])
            .select([sql.raw<Buffer>(digestOfColumn('password_hash')).as('opened_under'), ...valuesOfSession(session)]),
        )
      return (await opened.returning('id').executeTakeFirst())?.id
    },
    async find(hash, bounds, use) {
      const [row] = await ordinary.run(findSession, { hash, use, ...bounds })
      return row && fromRow(row)
    },
    list: async ({ account, user }, bounds) =>
      (await ordinary.run(listSessions, { account, user, ...bounds })).map(fromRow),
    end: (owner, only) => hasRow(sessionsOf(owner).where('id', '=', only)),
    async endAll(owner, but) {
      const sessions = sessionsOf(owner)
      return (await (but === undefined ? sessions : sessions.where('id', '<>', but)).execute()).length
    },
  }
}

/** Returns the condition that a session has expired: it was unused for too long, or is too old. */
export const isOver = ({ idleSeconds, secondsMax }: SessionBounds) =>
  sql<boolean>`(used_at <= now() - make_interval(secs => ${idleSeconds})
    or opened_at <= now() - make_interval(secs => ${secondsMax}))`

/** Returns the last four values of `newColumns`. The casts are needed in a list of selected values. */
export const valuesOfSession = ({ hash, agent, address, secondFactor }: NewSession) =>
  [
    sql<string>`${hash}::text`.as('hash'),
    sql<string>`${agent}::text`.as('agent'),
    sql<string>`${address}::text`.as('address'),
    sql<boolean>`${secondFactor}::bool`.as('second_factor'),
  ] as const

import type { Operator, OperatorId, Operators, OperatorSession, SessionId } from '@gateway/core/people'
import { sql, type Selectable, type UpdateObject } from 'kysely'
import { digestOf } from './password-digest.ts'
import { isOver, valuesOfSession } from './postgres-sessions.ts'
import type { Context } from '../context.ts'
import { hasRow, isAhead, secondsFromNow } from '../query-parts.ts'
import { findOperatorSession, listOperatorSessions } from '../sql/operators.ts'
import type { RowOf } from '../sql/statement.ts'
import type { Tables } from '../tables.ts'

/** Uses the ordinary connections, because people sign in rarely. */
export function postgresOperators({ pools: { kysely, ordinary } }: Context): Operators {
  const updateOperator = (id: OperatorId, columns: UpdateObject<Tables, 'operator'>) =>
    kysely.updateTable('operator').set(columns).where('id', '=', id).returning('id')

  /** Returns a query that makes an update and ends the sessions of the operator that it changes. */
  const endingSessions = (update: ReturnType<typeof updateOperator>) =>
    kysely
      .with('changed', () => update)
      .with('ended', (query) =>
        query
          .deleteFrom('operator_session')
          .where('operator_id', 'in', (ids) => ids.selectFrom('changed').select('changed.id')),
      )
      .selectFrom('changed')
      .select('id')

  const updateSession = (operator: OperatorId, id: SessionId, columns: UpdateObject<Tables, 'operator_session'>) =>
    kysely.updateTable('operator_session').set(columns).where('id', '=', id).where('operator_id', '=', operator)

  return {
    async add({ name, role }, password) {
      const added = await kysely
        .insertInto('operator')
        .values({ name, role, password_hash: password })
        .onConflict((conflict) => conflict.doNothing())
        .returning('id')
        .executeTakeFirst()
      return added?.id ?? 'name-taken'
    },
    async list() {
      const operators = kysely
        .selectFrom('operator')
        .selectAll()
        .orderBy(sql`lower(name)`)
      return (await operators.execute()).map(operatorOf)
    },
    async byName(name) {
      const row = await kysely
        .selectFrom('operator')
        .selectAll()
        .where(sql<boolean>`lower(name) = lower(${name})`)
        .executeTakeFirst()
      return row && { operator: operatorOf(row), password: row.password_hash }
    },
    setLocked(id, locked) {
      const update = updateOperator(id, { locked })
      return hasRow(locked ? endingSessions(update) : update)
    },
    setPassword: (id, password) => hasRow(endingSessions(updateOperator(id, { password_hash: password }))),
    /** The sessions that were opened under the previous hash stay open. */
    replaceHash(id, before, after) {
      const replaced = kysely
        .with('changed', () => updateOperator(id, { password_hash: after }).where('password_hash', '=', before))
        .with('kept', (query) =>
          query
            .updateTable('operator_session')
            .set({ opened_under: digestOf(after) })
            .where('operator_id', 'in', (ids) => ids.selectFrom('changed').select('changed.id'))
            .where('opened_under', '=', digestOf(before)),
        )
      return hasRow(replaced.selectFrom('changed').select('id'))
    },
    setRole: (id, role) => hasRow(updateOperator(id, { role })),
    async openSession(operator, password, session, bounds) {
      await kysely.deleteFrom('operator_session').where('operator_id', '=', operator).where(isOver(bounds)).execute()
      const opened = kysely
        .insertInto('operator_session')
        .columns(['operator_id', 'opened_under', 'hash', 'agent', 'address', 'second_factor'])
        .expression((query) =>
          query
            .selectFrom('operator')
            .where('id', '=', operator)
            .where('password_hash', '=', password)
            .where('locked', '=', false)
            .select('id')
            .select([sql<Buffer>`${digestOf(password)}::bytea`.as('opened_under'), ...valuesOfSession(session)]),
        )
      return (await opened.returning('id').executeTakeFirst())?.id
    },
    async findSession(hash, bounds, use) {
      const [row] = await ordinary.run(findOperatorSession, { hash, use, ...bounds })
      if (row === undefined) return undefined
      const { operator: id, name, role, locked, added } = row
      return { operator: { id, name, role, locked, added }, session: sessionOf(row) }
    },
    listSessions: async (operator, bounds) =>
      (await ordinary.run(listOperatorSessions, { operator, ...bounds })).map(sessionOf),
    async actAs(operator, id, account, seconds) {
      const holder = await kysely.selectFrom('account').select('id').where('id', '=', account).executeTakeFirst()
      if (holder === undefined) return undefined
      const acting = updateSession(operator, id, { acts_as: account, acts_until: secondsFromNow(seconds) })
      return (await acting.returning('acts_until').executeTakeFirst())?.acts_until ?? undefined
    },
    async endActingAs(operator, id) {
      const ended = await kysely
        .with('acting', (query) =>
          query
            .selectFrom('operator_session')
            .select(['id', 'acts_as'])
            .where('id', '=', id)
            .where('operator_id', '=', operator)
            .where(isAhead('acts_until'))
            .forUpdate(),
        )
        .updateTable('operator_session')
        .from('acting')
        .set({ acts_as: null, acts_until: null })
        .whereRef('operator_session.id', '=', 'acting.id')
        .returning('acting.acts_as')
        .executeTakeFirst()
      return ended?.acts_as ?? undefined
    },
    async endSessions(operator, only) {
      const sessions = kysely.deleteFrom('operator_session').where('operator_id', '=', operator).returning('id')
      return (await (only === undefined ? sessions : sessions.where('id', '=', only)).execute()).length
    },
  }
}

const operatorOf = ({ id, name, role, locked, added_at }: Selectable<Tables['operator']>): Operator => ({
  ...{ id, name, role, locked },
  added: added_at,
})

const sessionOf = ({ actsAs, actsUntil, ...row }: RowOf<typeof listOperatorSessions>): OperatorSession => ({
  ...{ id: row.id, operator: row.operator, opened: row.opened, used: row.used },
  ...{ agent: row.agent, address: row.address, secondFactor: row.secondFactor },
  actsAs: actsAs === null || actsUntil === null ? undefined : { account: actsAs, until: actsUntil },
})

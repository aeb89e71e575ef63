import type { AccountId } from '@gateway/core/accounts'
import type { Operator, OperatorId, Operators, OperatorSession, PasswordHash, SessionId } from '@gateway/core/people'
import { instant } from '@gateway/core/time'
import type { Context } from '../context.ts'
import {
  actAs,
  addOperator,
  changeOperator,
  endActingAs,
  endOperatorSessions,
  findOperatorSession,
  listOperators,
  listOperatorSessions,
  openOperatorSession,
  replaceOperatorHash,
  type OperatorRow,
  type OperatorSessionRow,
} from '../sql/operators.ts'

/** Uses the ordinary connections, because people log in rarely. */
export function postgresOperators({ pools: { ordinary } }: Context): Operators {
  const change = async (
    id: OperatorId,
    { locked, password, role }: Partial<Pick<Operator, 'locked' | 'role'> & { readonly password: PasswordHash }>,
  ): Promise<boolean> => (await ordinary.run(changeOperator, { id, locked, password, role })).length > 0

  return {
    async add({ name, role }, password) {
      const [row] = await ordinary.run(addOperator, { name, role, password })
      return row === undefined ? 'name-taken' : (row.id as OperatorId)
    },
    list: async () => (await ordinary.run(listOperators, { name: undefined })).map(operatorOf),
    async byName(name) {
      const [row] = await ordinary.run(listOperators, { name })
      return row && { operator: operatorOf(row), password: row.password as PasswordHash }
    },
    setLocked: (id, locked) => change(id, { locked }),
    setPassword: (id, password) => change(id, { password }),
    replaceHash: async (id, before, after) =>
      (await ordinary.run(replaceOperatorHash, { id, before, after })).length > 0,
    setRole: (id, role) => change(id, { role }),
    async openSession(operator, password, session, bounds) {
      const [row] = await ordinary.run(openOperatorSession, { operator, password, ...session, ...bounds })
      return row?.id as SessionId | undefined
    },
    async findSession(hash, bounds, use) {
      const [row] = await ordinary.run(findOperatorSession, { hash, use, ...bounds })
      return row && { operator: operatorOf(row), session: sessionOf(row) }
    },
    listSessions: async (operator, bounds) =>
      (await ordinary.run(listOperatorSessions, { operator, ...bounds })).map(sessionOf),
    async actAs(operator, id, account, seconds) {
      const [row] = await ordinary.run(actAs, { operator, id, account, seconds })
      return row && instant(row.until)
    },
    endActingAs: async (operator, id) =>
      (await ordinary.run(endActingAs, { operator, id }))[0]?.account as AccountId | undefined,
    endSessions: async (operator, only) => (await ordinary.run(endOperatorSessions, { operator, only })).length,
  }
}

const operatorOf = ({ id, name, role, locked, added }: OperatorRow): Operator => ({
  id: id as OperatorId,
  ...{ name, role, locked },
  added: instant(added),
})

const sessionOf = ({
  id,
  session,
  opened,
  used,
  agent,
  address,
  secondFactor,
  actsAs,
  actsUntil,
}: OperatorSessionRow): OperatorSession => ({
  id: session as SessionId,
  operator: id as OperatorId,
  opened: instant(opened),
  used: instant(used),
  ...{ agent, address, secondFactor },
  actsAs:
    actsAs === null || actsUntil === null ? undefined : { account: actsAs as AccountId, until: instant(actsUntil) },
})

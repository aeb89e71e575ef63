import type { Operator, OperatorId, Operators, OperatorSession, SessionId } from '@gateway/core/people'
import { secondsAfter, type Instant } from '@gateway/core/time'
import { isSessionOver } from '../contracts/specification/accounts.ts'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

const useSeconds = 60

export function memoryOperators(store: MemoryStore): Operators {
  const { operators, operatorSessions, clock } = store
  const named = (name: string) =>
    [...operators.values()].find(({ operator }) => operator.name.toLowerCase() === name.toLowerCase())

  function change(id: OperatorId, change: Partial<Pick<Operator, 'role' | 'locked'>>): boolean {
    const row = operators.get(id)
    if (row === undefined) return false
    row.operator = { ...row.operator, ...change }
    return true
  }

  function endSessions(of: OperatorId, only?: SessionId): number {
    const ended = [...operatorSessions].filter(
      ([, { session }]) => session.operator === of && session.id === (only ?? session.id),
    )
    for (const [hash] of ended) operatorSessions.delete(hash)
    return ended.length
  }

  const rowOf = (of: OperatorId, id: SessionId) =>
    [...operatorSessions.values()].find(({ session }) => session.operator === of && session.id === id)

  /** Returns the session as of now: without the account that the operator acts for, if that permission has ended. */
  const asOfNow = (session: OperatorSession): OperatorSession =>
    session.actsAs !== undefined && session.actsAs.until <= clock.now() ? { ...session, actsAs: undefined } : session

  /** Returns the valid sessions with their hashes. */
  const sessionsWithin = (bounds: Parameters<Operators['listSessions']>[1]) =>
    [...operatorSessions].flatMap(([hash, { session, password }]) => {
      const row = operators.get(session.operator)
      const isOver = row?.password !== password || isSessionOver(session, row.operator, bounds, clock.now())
      return isOver ? [] : [{ hash, session, operator: row.operator }]
    })

  return {
    add: atomic(({ name, role }, password): OperatorId | 'name-taken' => {
      if (named(name) !== undefined) return 'name-taken'
      const id = store.next('operator') as OperatorId
      operators.set(id, { operator: { id, name, role, locked: false, added: clock.now() }, password })
      return id
    }),
    list: atomic(() =>
      [...operators.values()]
        .map(({ operator }) => operator)
        .sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1)),
    ),
    byName: atomic((name) => {
      const row = named(name)
      return row && { ...row }
    }),
    setLocked: atomic((id, locked) => {
      if (locked) endSessions(id)
      return change(id, { locked })
    }),
    setPassword: atomic((id, password) => {
      const row = operators.get(id)
      if (row === undefined) return false
      row.password = password
      endSessions(id)
      return true
    }),
    replaceHash: atomic((id, before, after) => {
      const row = operators.get(id)
      if (row?.password !== before) return false
      row.password = after
      for (const [hash, each] of operatorSessions)
        if (each.session.operator === id && each.password === before)
          operatorSessions.set(hash, { ...each, password: after })
      return true
    }),
    setRole: atomic((id, role) => change(id, { role })),
    openSession: atomic((by, password, { hash, agent, address, secondFactor }, bounds) => {
      const row = operators.get(by)
      const remaining = new Set(sessionsWithin(bounds).map((one) => one.hash))
      for (const [each, { session }] of operatorSessions)
        if (session.operator === by && !remaining.has(each)) operatorSessions.delete(each)
      if (row?.password !== password || row.operator.locked) return undefined
      const id = store.next('operator-session') as SessionId
      const now = clock.now()
      operatorSessions.set(hash, {
        session: { id, operator: by, opened: now, used: now, agent, address, secondFactor, actsAs: undefined },
        password,
      })
      return id
    }),
    findSession: atomic((hash, bounds, use) => {
      const found = sessionsWithin(bounds).find((one) => one.hash === hash)
      const row = operatorSessions.get(hash)
      if (found === undefined || row === undefined) return undefined
      const now = clock.now()
      if (use && secondsAfter(row.session.used, useSeconds) <= now) row.session = { ...row.session, used: now }
      return { operator: found.operator, session: asOfNow(row.session) }
    }),
    listSessions: atomic((of, bounds) =>
      sessionsWithin(bounds)
        .map(({ session }) => asOfNow(session))
        .filter(({ operator }) => operator === of)
        .sort((a, b) => b.used - a.used || b.id - a.id),
    ),
    actAs: atomic((of, id, account, seconds): Instant | undefined => {
      const row = rowOf(of, id)
      if (row === undefined || !store.accounts.has(account)) return undefined
      const until = secondsAfter(clock.now(), seconds)
      row.session = { ...row.session, actsAs: { account, until } }
      return until
    }),
    endActingAs: atomic((of, id) => {
      const row = rowOf(of, id)
      const acted = row && asOfNow(row.session).actsAs
      if (row !== undefined) row.session = { ...row.session, actsAs: undefined }
      return acted?.account
    }),
    endSessions: atomic(endSessions),
  }
}

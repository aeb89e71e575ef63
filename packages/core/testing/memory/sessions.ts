import {
  factorOwner,
  type NewSession,
  type PasswordHash,
  type Session,
  type SessionBounds,
  type SessionId,
  type SessionOwner,
  type Sessions,
} from '@gateway/core/people'
import { secondsAfter, type Instant } from '@gateway/core/time'
import { isSessionOver } from '../contracts/specification/accounts.ts'
import { atomic } from './atomic.ts'
import type { SessionRow } from './rows.ts'
import type { MemoryStore } from './store.ts'

const useSeconds = 60

export function memorySessions(store: MemoryStore): Sessions {
  const { sessions, links, accounts, users, clock } = store

  /** Returns the password of an owner; 'nobody' if there is no such owner, or if it is locked. */
  function passwordOf({ account, user }: SessionOwner): PasswordHash | undefined | 'nobody' {
    const row = accounts.get(account)
    if (row === undefined || row.account.locked) return 'nobody'
    if (user === undefined) return row.password
    const userRow = users.get(user)
    return userRow?.user.account !== account || userRow.user.locked ? 'nobody' : userRow.password
  }

  const isOf = ({ session }: SessionRow, { account, user }: SessionOwner): boolean =>
    session.account === account && session.user === user

  const isOver = ({ session, password, secondFactor }: SessionRow, bounds: SessionBounds): boolean => {
    if (store.secondFactorRequired.has(session.account) && !secondFactor) return true
    const row = accounts.get(session.account)
    return (
      row === undefined || passwordOf(session) !== password || isSessionOver(session, row.account, bounds, clock.now())
    )
  }

  function open(
    { account, user }: SessionOwner,
    { hash, agent, address, secondFactor }: NewSession,
  ): SessionId | undefined {
    const password = passwordOf({ account, user })
    if (password === 'nobody') return undefined
    const id = store.next('session') as SessionId
    const now = clock.now()
    const session: Session = { id, account, user, opened: now, used: now, agent, address }
    sessions.set(hash, { session, password, secondFactor })
    return id
  }

  const rowsOf = (of: SessionOwner) => [...sessions].filter(([, row]) => isOf(row, of))

  return {
    open: atomic((by, password, session, bounds) => {
      for (const [hash, row] of rowsOf(by)) if (isOver(row, bounds)) sessions.delete(hash)
      return passwordOf(by) === password ? open(by, session) : undefined
    }),
    offerLink: atomic((to, link, seconds) => {
      if (!accounts.has(to)) return false
      links.set(link, { account: to, until: secondsAfter(clock.now(), seconds) })
      return true
    }),
    openByLink: atomic((link, session) => {
      const offered = links.get(link)
      links.delete(link)
      if (offered === undefined || offered.until <= clock.now()) return undefined
      const hasFactor = store.secondFactors.has(factorOwner('account', offered.account))
      return hasFactor ? undefined : open({ account: offered.account }, session)
    }),
    find: atomic((hash, bounds, use) => {
      const row = sessions.get(hash)
      if (row === undefined || isOver(row, bounds)) return undefined
      const now: Instant = clock.now()
      if (use && secondsAfter(row.session.used, useSeconds) <= now) row.session = { ...row.session, used: now }
      return row.session
    }),
    list: atomic((of, bounds) =>
      rowsOf(of)
        .filter(([, row]) => !isOver(row, bounds))
        .map(([, { session }]) => session)
        .sort((a, b) => b.used - a.used || b.id - a.id),
    ),
    end: atomic((of, id) => {
      const [found] = rowsOf(of).find(([, { session }]) => session.id === id) ?? []
      return found !== undefined && sessions.delete(found)
    }),
    endAll: atomic((of, but) => {
      const ended = rowsOf(of).filter(([, { session }]) => session.id !== but)
      for (const [hash] of ended) sessions.delete(hash)
      return ended.length
    }),
  }
}

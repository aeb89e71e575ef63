import { factorOwner, type User, type UserId, type Users } from '@gateway/core/people'
import { secondsAfter } from '@gateway/core/time'
import { atomic } from './atomic.ts'
import type { UserRow } from './rows.ts'
import type { MemoryStore } from './store.ts'

export function memoryUsers(store: MemoryStore): Users {
  const { accounts, users, sessions, secondFactors, clock } = store
  const named = (email: string) =>
    [...users.values()].find(({ user }) => user.email.toLowerCase() === email.toLowerCase())
  const own = (of: User['account'], id: UserId): UserRow | undefined => {
    const row = users.get(id)
    return row?.user.account === of ? row : undefined
  }
  const linked = (hash: string): UserRow | undefined =>
    [...users.values()].find(({ user, link }) => link?.hash === hash && link.until > clock.now() && !user.locked)

  function endSessions(of: UserId): void {
    for (const [hash, { session }] of sessions) if (session.user === of) sessions.delete(hash)
  }

  function change(row: UserRow | undefined, change: Partial<User>): boolean {
    if (row !== undefined) row.user = { ...row.user, ...change }
    return row !== undefined
  }

  function setPassword(row: UserRow | undefined, password: UserRow['password']): boolean {
    if (row === undefined) return false
    row.password = password
    endSessions(row.user.id)
    return change(row, { hasPassword: true })
  }

  return {
    add: atomic((to, { email, role }, { hash, seconds }): UserId | 'email-taken' | 'no-such-account' => {
      if (!accounts.has(to)) return 'no-such-account'
      if (named(email) !== undefined) return 'email-taken'
      const id = store.next('user') as UserId
      const user = { id, account: to, email, role, locked: false, added: clock.now(), hasPassword: false }
      users.set(id, { user, password: undefined, link: { hash, until: secondsAfter(clock.now(), seconds) } })
      return id
    }),
    list: atomic((of) =>
      [...users.values()]
        .map(({ user }) => user)
        .filter(({ account }) => account === of)
        .sort((a, b) => (a.email.toLowerCase() < b.email.toLowerCase() ? -1 : 1)),
    ),
    find: atomic((of, id) => own(of, id)?.user),
    byEmail: atomic((email) => {
      const row = named(email)
      return row && { user: row.user, password: row.password }
    }),
    byLink: atomic((link) => linked(link)?.user),
    offerLink: atomic((of, id, { hash, seconds }) => {
      const row = own(of, id)
      if (row !== undefined) row.link = { hash, until: secondsAfter(clock.now(), seconds) }
      return row !== undefined
    }),
    setPasswordByLink: atomic((link, password) => {
      const row = linked(link)
      if (row !== undefined) row.link = undefined
      return setPassword(row, password)
    }),
    setPassword: atomic((of, id, password) => setPassword(own(of, id), password)),
    replaceHash: atomic((of, id, before, after) => {
      const row = own(of, id)
      if (row === undefined || row.password !== before) return false
      row.password = after
      for (const [hash, each] of sessions)
        if (each.session.user === id && each.password === before) sessions.set(hash, { ...each, password: after })
      return true
    }),
    setRole: atomic((of, id, role) => change(own(of, id), { role })),
    setLocked: atomic((of, id, locked) => {
      const row = own(of, id)
      if (row !== undefined && locked) endSessions(id)
      return change(row, { locked })
    }),
    remove: atomic((of, id) => {
      if (own(of, id) === undefined) return false
      endSessions(id)
      secondFactors.delete(factorOwner('user', id))
      return users.delete(id)
    }),
  }
}

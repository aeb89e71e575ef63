import { instant, type AccountId, type PasswordHash, type User, type UserId, type Users } from '@gateway/core'
import type { Context } from '../context.ts'
import {
  addUser,
  changeUser,
  findUserByEmail,
  findUserByLink,
  listUsers,
  offerUserLink,
  removeUser,
  setPasswordByLink,
  type UserRow,
} from '../sql/users.ts'

/** On the ordinary connections: people ask seldom. */
export function postgresUsers({ pools: { ordinary } }: Context): Users {
  const change = async (
    account: AccountId,
    id: UserId,
    { locked, password, role }: Partial<Pick<User, 'locked' | 'role'> & { readonly password: PasswordHash }>,
  ): Promise<boolean> => (await ordinary.run(changeUser, { account, id, locked, password, role })).length > 0

  return {
    async add(account, { email, role }, { hash, seconds }) {
      const [row] = await ordinary.run(addUser, { account, email, role, link: hash, seconds })
      if (row === undefined || row.found === 0) return 'no-such-account'
      return row.id === null ? 'email-taken' : (row.id as UserId)
    },
    list: async (account) => (await ordinary.run(listUsers, { account, id: undefined })).map(userOf),
    async find(account, id) {
      const [row] = await ordinary.run(listUsers, { account, id })
      return row && userOf(row)
    },
    async byEmail(email) {
      const [row] = await ordinary.run(findUserByEmail, { email })
      return row && { user: userOf(row), password: (row.password ?? undefined) as PasswordHash | undefined }
    },
    async byLink(link) {
      const [row] = await ordinary.run(findUserByLink, { link })
      return row && userOf(row)
    },
    offerLink: async (account, id, { hash, seconds }) =>
      (await ordinary.run(offerUserLink, { account, id, link: hash, seconds })).length > 0,
    setPasswordByLink: async (link, password) => (await ordinary.run(setPasswordByLink, { link, password })).length > 0,
    setPassword: (account, id, password) => change(account, id, { password }),
    setRole: (account, id, role) => change(account, id, { role }),
    setLocked: (account, id, locked) => change(account, id, { locked }),
    remove: async (account, id) => (await ordinary.run(removeUser, { account, id })).length > 0,
  }
}

const userOf = ({ id, account, email, role, locked, added, password }: UserRow): User => ({
  id: id as UserId,
  account: account as AccountId,
  ...{ email, role, locked },
  added: instant(added),
  hasPassword: password !== null,
})

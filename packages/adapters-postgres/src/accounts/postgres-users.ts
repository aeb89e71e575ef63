import type { AccountId } from '@gateway/core/accounts'
import type {
  PasswordHash,
  User,
  UserId,
  Users,
  Session,
  SessionId,
  Sessions,
  SecondFactors,
} from '@gateway/core/people'
import { instant } from '@gateway/core/time'
import type { SealedSecret } from '@gateway/core/webhooks'
import type { Context } from '../context.ts'
import {
  addUser,
  changeUser,
  findUserByEmail,
  findUserByLink,
  listUsers,
  offerUserLink,
  removeUser,
  replaceUserHash,
  setPasswordByLink,
  type UserRow,
} from '../sql/users.ts'
import { fromRow } from '../sql/statement.ts'
import { endSessions, findSession, listSessions, offerLink, openByLink, openSession } from '../sql/sessions.ts'
import {
  findSecondFactor,
  isSecondFactorRequired,
  listFactorSecrets,
  removeSecondFactor,
  replaceFactorSecrets,
  replaceRecoveryCodes,
  requireSecondFactor,
  setSecondFactor,
  useRecoveryCode,
  useTimeStep,
} from '../sql/second-factors.ts'

/** Uses the ordinary connections, because people log in rarely. */
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
    replaceHash: async (account, id, before, after) =>
      (await ordinary.run(replaceUserHash, { account, id, before, after })).length > 0,
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

/** Uses the ordinary connections, because people log in rarely. */
export const postgresSessions = ({ pools: { ordinary } }: Context): Sessions => ({
  open: async ({ account, user }, password, session, bounds) => {
    const [row] = await ordinary.run(openSession, { account, user, password, ...session, ...bounds })
    return row?.id as SessionId | undefined
  },
  offerLink: async (account, link, seconds) => (await ordinary.run(offerLink, { account, link, seconds })).length > 0,
  openByLink: async (link, session) => {
    const [row] = await ordinary.run(openByLink, { link, ...session })
    return row?.id as SessionId | undefined
  },
  async find(hash, bounds, use) {
    const [row] = await ordinary.run(findSession, { hash, use, ...bounds })
    return row && fromRow<Session>(row)
  },
  list: async ({ account, user }, bounds) =>
    (await ordinary.run(listSessions, { account, user, ...bounds })).map((row) => fromRow<Session>(row)),
  end: async ({ account, user }, only) =>
    (await ordinary.run(endSessions, { account, user, only, but: undefined })).length > 0,
  endAll: async ({ account, user }, but) =>
    (await ordinary.run(endSessions, { account, user, only: undefined, but })).length,
})

/** Uses the ordinary connections, because people log in rarely. */
export const postgresSecondFactors = ({ pools: { ordinary } }: Context): SecondFactors => ({
  async find(owner) {
    const [row] = await ordinary.run(findSecondFactor, { owner })
    return row && { secret: row.secret as SealedSecret, since: instant(row.since), recoveryCodes: row.codes }
  },
  set: async (owner, secret, step, codes) =>
    (await ordinary.run(setSecondFactor, { owner, secret, step, codes })).length > 0,
  useStep: async (owner, step) => (await ordinary.run(useTimeStep, { owner, step })).length > 0,
  useRecoveryCode: async (owner, hash) => (await ordinary.run(useRecoveryCode, { owner, hash })).length > 0,
  replaceRecoveryCodes: async (owner, codes) => (await ordinary.run(replaceRecoveryCodes, { owner, codes })).length > 0,
  remove: async (owner) => (await ordinary.run(removeSecondFactor, { owner })).length > 0,
  setRequired: async (account, required) => (await ordinary.run(requireSecondFactor, { account, required })).length > 0,
  isRequired: async (account) => (await ordinary.run(isSecondFactorRequired, { account }))[0]?.required ?? false,
  lastSecret: async () => (await ordinary.run(listFactorSecrets, {})).at(-1)?.secret as SealedSecret | undefined,
  async resealSecrets(change) {
    const changed = (await ordinary.run(listFactorSecrets, {}))
      .map(({ owner, secret }) => ({ owner, before: secret, secret: change(secret as SealedSecret) }))
      .filter(({ before, secret }) => before !== secret)
    if (changed.length === 0) return 0
    const column = (name: 'owner' | 'before' | 'secret') => changed.map((row) => row[name])
    const values = { owners: column('owner'), before: column('before'), secrets: column('secret') }
    return (await ordinary.run(replaceFactorSecrets, values)).length
  },
})

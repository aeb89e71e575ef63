import type { Ports } from '../ports.ts'
import type { AccountId } from '../accounts/account.ts'
import { newPasswordRefusal, type NewPasswordRefusal } from './new-password.ts'
import { factorOwner } from './second-factors.ts'
import type { User, UserId, UserRole } from './users.ts'

type UserPorts = Pick<Ports, 'users' | 'secrets' | 'secondFactors'>

/** So long an invited person may choose a password. */
export const invitationSeconds = 3 * 24 * 60 * 60

const emailLengthMax = 254

/** An address as people have them. No mail is sent: what it is used for is a name. */
const isEmail = (text: string): boolean =>
  text.length <= emailLengthMax && /^[!-?A-~]+@[!-?A-~]+\.[!-?A-~]+$/.test(text)

/** What makes a link, for whoever asked for it to pass on; shown this once. */
export interface Invitation {
  readonly id: UserId
  readonly token: string
}

/** What is done with the users of an account: by an owner with the own account, by an operator with any. */
export const accountUsers = (ports: UserPorts) => ({
  invite: async (
    to: AccountId,
    { email, role }: { readonly email: string; readonly role: UserRole },
  ): Promise<Invitation | 'invalid-email' | 'email-taken' | 'no-such-account'> => {
    if (!isEmail(email)) return 'invalid-email'
    const { token, link } = newLink(ports)
    const id = await ports.users.add(to, { email, role }, link)
    return typeof id === 'string' ? id : { id, token }
  },

  /** A new link for somebody who has lost the first one, or the password. */
  renewLink: async (of: AccountId, id: UserId): Promise<Invitation | 'no-such-user'> => {
    const { token, link } = newLink(ports)
    return (await ports.users.offerLink(of, id, link)) ? { id, token } : 'no-such-user'
  },

  setRole: (of: AccountId, id: UserId, role: UserRole): Promise<boolean> => ports.users.setRole(of, id, role),
  lock: (of: AccountId, id: UserId): Promise<boolean> => ports.users.setLocked(of, id, true),
  unlock: (of: AccountId, id: UserId): Promise<boolean> => ports.users.setLocked(of, id, false),
  remove: (of: AccountId, id: UserId): Promise<boolean> => ports.users.remove(of, id),

  /** Removes a second factor that was lost. False: no such user, or there was none. */
  resetFactor: async (of: AccountId, id: UserId): Promise<boolean> =>
    (await ports.users.find(of, id)) !== undefined && ports.secondFactors.remove(factorOwner('user', id)),
})

function newLink({ secrets }: Pick<Ports, 'secrets'>) {
  const token = secrets.newToken()
  return { token, link: { hash: secrets.hashKey(token), seconds: invitationSeconds } }
}

/** Whose link a token is of. Undefined: it was used, is too old, or the user is locked. */
export const findInvited =
  ({ users, secrets }: UserPorts) =>
  (token: string): Promise<User | undefined> =>
    users.byLink(secrets.hashKey(token))

/** The person chooses a password; the link is worth nothing from then on, and all sessions of the user end. */
export const acceptInvitation =
  (ports: UserPorts) =>
  async (token: string, password: string): Promise<'set' | 'over' | NewPasswordRefusal> => {
    const user = await findInvited(ports)(token)
    if (user === undefined) return 'over'
    const refusal = await newPasswordRefusal(ports, password, user.email)
    if (refusal !== undefined) return refusal
    const hash = await ports.secrets.hashPassword(password, 'sign-in')
    return (await ports.users.setPasswordByLink(ports.secrets.hashKey(token), hash)) ? 'set' : 'over'
  }

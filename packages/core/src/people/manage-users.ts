import type { Ports } from '../ports.ts'
import type { AccountId } from '../accounts/account.ts'
import { newPasswordRefusal, type NewPasswordRefusal } from './new-password.ts'
import { factorOwner } from './second-factors.ts'
import type { User, UserId, UserRole } from './users.ts'

type UserPorts = Pick<Ports, 'people' | 'secrets'>

/** Seconds within which an invited person may choose a password. */
export const invitationSeconds = 3 * 24 * 60 * 60

const emailLengthMax = 254

/**
 * Returns true if the text has the usual form of an e-mail address. The address serves only as a name: no mail is sent.
 */
const isEmail = (text: string): boolean =>
  text.length <= emailLengthMax && /^[!-?A-~]+@[!-?A-~]+\.[!-?A-~]+$/.test(text)

/** Token of an invitation link. It is shown once, and the inviting person passes the link on. */
export interface Invitation {
  readonly id: UserId
  readonly token: string
}

/** Operations on the users of an account, for its owners and for operators. */
export const accountUsers = (ports: UserPorts) => ({
  invite: async (
    to: AccountId,
    { email, role }: { readonly email: string; readonly role: UserRole },
  ): Promise<Invitation | 'invalid-email' | 'email-taken' | 'no-such-account'> => {
    if (!isEmail(email)) return 'invalid-email'
    const { token, link } = newLink(ports)
    const id = await ports.people.users.add(to, { email, role }, link)
    return typeof id === 'string' ? id : { id, token }
  },

  /** Creates a new link for a user who has lost the first one or the password. */
  renewLink: async (of: AccountId, id: UserId): Promise<Invitation | 'no-such-user'> => {
    const { token, link } = newLink(ports)
    return (await ports.people.users.offerLink(of, id, link)) ? { id, token } : 'no-such-user'
  },

  setRole: (of: AccountId, id: UserId, role: UserRole): Promise<boolean> => ports.people.users.setRole(of, id, role),
  lock: (of: AccountId, id: UserId): Promise<boolean> => ports.people.users.setLocked(of, id, true),
  unlock: (of: AccountId, id: UserId): Promise<boolean> => ports.people.users.setLocked(of, id, false),
  remove: (of: AccountId, id: UserId): Promise<boolean> => ports.people.users.remove(of, id),

  /** Removes a lost second factor. Returns false if there is no such user or the user has none. */
  resetFactor: async (of: AccountId, id: UserId): Promise<boolean> =>
    (await ports.people.users.find(of, id)) !== undefined && ports.people.secondFactors.remove(factorOwner('user', id)),
})

function newLink({ secrets }: Pick<Ports, 'secrets'>) {
  const token = secrets.newToken()
  return { token, link: { hash: secrets.hashKey(token), seconds: invitationSeconds } }
}

/**
 * Returns the user to whom a link belongs. Returns undefined if the link was used or has expired, or the user is
 * locked.
 */
export const findInvited =
  ({ people, secrets }: UserPorts) =>
  (token: string): Promise<User | undefined> =>
    people.users.byLink(secrets.hashKey(token))

/** Sets the password that the person has chosen. The link is used up, and all sessions of the user end. */
export const acceptInvitation =
  (ports: UserPorts) =>
  async (token: string, password: string): Promise<'set' | 'over' | NewPasswordRefusal> => {
    const user = await findInvited(ports)(token)
    if (user === undefined) return 'over'
    const refusal = await newPasswordRefusal(ports, password, user.email)
    if (refusal !== undefined) return refusal
    const hash = await ports.secrets.hashPassword(password, 'sign-in')
    return (await ports.people.users.setPasswordByLink(ports.secrets.hashKey(token), hash)) ? 'set' : 'over'
  }

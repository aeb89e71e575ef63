import type { AccountWithBalance } from '../accounts/accounts.ts'
import { newPasswordRefusal, type NewPasswordRefusal } from './new-password.ts'
import { ownSecondFactor, type FactorPorts, type FactorToSetUp } from './second-factor.ts'
import { factorOwner } from './second-factors.ts'
import type { TooManyFailures } from './secrets.ts'
import { sessionBounds, type SessionId } from './sessions.ts'
import {
  newSession,
  afterPassword,
  type Browser,
  type OpenedSession,
  type CodeRequest,
  type SignInArea,
} from './sign-in-steps.ts'
import type { Ports } from '../ports.ts'
import type { Instant } from '../time/instant.ts'
import type { Operator, OperatorId, OperatorLogin, OperatorSession } from './operators.ts'

/** Settings that apply to all operators. */
export interface OperatorSettings {
  /** True if every operator must have a second factor. */
  readonly secondFactorRequired: boolean
}

/** Name and password in an operator's attempt to sign in. */
export interface OperatorPair {
  readonly name: string
  readonly password: string
  /** Network, as in `PasswordAttempt`. */
  readonly network: string
  readonly address: string
}

export type SignInRefusal = 'wrong-credentials' | 'overloaded' | TooManyFailures

/** Returns true for a name of 1 to 64 printable ASCII characters without spaces, as for user names. */
const isOperatorName = (text: string): boolean => /^[!-~]{1,64}$/.test(text)

/** Returns the sign-in area of operators, by name. */
export const operatorArea = (
  ports: FactorPorts,
  { secondFactorRequired }: OperatorSettings,
): SignInArea<OperatorLogin> => ({
  ownerOf: ({ operator }) => factorOwner('operator', operator.id),
  labelOf: ({ operator }) => operator.name,
  isRequired: () => Promise.resolve(secondFactorRequired),
  byName: (name) => ports.people.operators.byName(name),
  async open({ operator, password }, browser, secondFactor) {
    const { token, ...session } = newSession(ports, browser, secondFactor)
    const id = await ports.people.operators.openSession(operator.id, password, session, sessionBounds)
    return id === undefined ? 'wrong-credentials' : { id, token }
  },
})

/**
 * Checks the password of an operator and opens a session or asks for a code. Failures are counted like those of account
 * holders (ruling 1.26), under a name that no account can have. The result never shows whether the name exists or is
 * locked.
 */
export const signInOperator =
  (ports: FactorPorts, settings: OperatorSettings) =>
  async (pair: OperatorPair, browser: Browser): Promise<OpenedSession | CodeRequest | SignInRefusal> => {
    const login = await checkOperator(ports, pair)
    if (typeof login === 'string' || 'retryAfterSeconds' in login) return login
    const strong = await withStrongHash(ports, login, pair.password)
    return afterPassword(ports, operatorArea(ports, settings), strong, pair.name, browser)
  }

/** After a correct password, replaces its stored hash if that is weaker than hashes that are made now. */
async function withStrongHash(
  { people: { operators }, secrets }: FactorPorts,
  login: OperatorLogin,
  typed: string,
): Promise<OperatorLogin> {
  if (!secrets.isWeakForSignIn(login.password)) return login
  const password = await secrets.hashPassword(typed, 'sign-in')
  const isReplaced = await operators.replaceHash(login.operator.id, login.password, password)
  return isReplaced ? { ...login, password } : login
}

/**
 * Signs in an operator whom an identity provider has identified by name. The provider replaces only the password; a
 * second factor is still required as usual. Names are ASCII, so that comparing them in any letter case needs no locale.
 */
export const signInNamedOperator =
  (ports: FactorPorts, settings: OperatorSettings) =>
  async (name: string, browser: Browser): Promise<OpenedSession | CodeRequest | 'wrong-credentials'> => {
    const login = isOperatorName(name) ? await ports.people.operators.byName(name) : undefined
    if (login === undefined || login.operator.locked) return 'wrong-credentials'
    return afterPassword(ports, operatorArea(ports, settings), login, name, browser)
  }

async function checkOperator(
  { people: { operators }, secrets, clock }: FactorPorts,
  { name, password, network, address }: OperatorPair,
): Promise<OperatorLogin | SignInRefusal> {
  const stored = () => operators.byName(name)
  const checked = await secrets.checkPassword({
    ...{ login: `operator ${name}`, password, network, address, now: clock.now() },
    use: 'sign-in',
    ...{ remembered: stored, stored, mayUse: ({ operator }: OperatorLogin) => !operator.locked },
  })
  return checked === 'wrong' ? 'wrong-credentials' : checked
}

/**
 * Reads the operator of a session token from the store. Returns undefined if the session has ended, or lacks a second
 * factor that is required now.
 */
export const findOperatorSession =
  (ports: Pick<Ports, 'people' | 'secrets'>, { secondFactorRequired }: OperatorSettings) =>
  async (
    token: string,
    use = true,
  ): Promise<{ readonly operator: Operator; readonly session: OperatorSession } | undefined> => {
    const found = await ports.people.operators.findSession(ports.secrets.hashKey(token), sessionBounds, use)
    return secondFactorRequired && found?.session.secondFactor === false ? undefined : found
  }

/** Maximum number of seconds for which an operator acts as an account. */
export const actingSeconds = 30 * 60

/** Account as which an operator acts, read from the store. */
export interface ActingOperator extends AccountWithBalance {
  readonly operator: Operator
  readonly session: OperatorSession
  readonly until: Instant
}

/** Returns undefined if the session has ended or acts as no account. */
export const findActing =
  (ports: Pick<Ports, 'accounts' | 'people' | 'secrets'>, settings: OperatorSettings) =>
  async (token: string, use = true): Promise<ActingOperator | undefined> => {
    const found = await findOperatorSession(ports, settings)(token, use)
    const actsAs = found?.session.actsAs
    const account = actsAs && (await ports.accounts.find(actsAs.account))
    return account && { ...found, ...account, until: actsAs.until }
  }

/**
 * Changes the password of the operator who is signed in. All sessions end; the returned one replaces that of the
 * present browser.
 */
export const changeOperatorPassword =
  (ports: FactorPorts, settings: OperatorSettings) =>
  async (
    pair: OperatorPair,
    newPassword: string,
    browser: Browser,
  ): Promise<OpenedSession | SignInRefusal | NewPasswordRefusal> => {
    const refusal = await newPasswordRefusal(ports, newPassword, pair.name)
    if (refusal !== undefined) return refusal
    const checked = await checkOperator(ports, pair)
    if (typeof checked === 'string' || 'retryAfterSeconds' in checked) return checked
    const password = await ports.secrets.hashPassword(newPassword, 'sign-in')
    await ports.people.operators.setPassword(checked.operator.id, password)
    const area = operatorArea(ports, settings)
    const secondFactor = (await ports.people.secondFactors.find(area.ownerOf(checked))) !== undefined
    return area.open({ ...checked, password }, browser, secondFactor)
  }

/**
 * Starts the setup of a second factor. Requires the password again, because a person who finds an open session must not
 * lock its owner out.
 */
export const beginOperatorFactor =
  (ports: FactorPorts) =>
  async (
    { id, name }: Operator,
    pair: Omit<OperatorPair, 'name'>,
  ): Promise<FactorToSetUp | 'already' | SignInRefusal> => {
    const checked = await checkOperator(ports, { ...pair, name })
    if (typeof checked === 'string' || 'retryAfterSeconds' in checked) return checked
    return ownSecondFactor(ports).begin(factorOwner('operator', id), name)
  }

export const listOperatorSessions =
  ({ people: { operators } }: Pick<Ports, 'people'>) =>
  (of: OperatorId): Promise<readonly OperatorSession[]> =>
    operators.listSessions(of, sessionBounds)

export const endOperatorSessions =
  ({ people: { operators } }: Pick<Ports, 'people'>) =>
  (of: OperatorId, only?: SessionId): Promise<number> =>
    operators.endSessions(of, only)

/** Adds an operator with a first password. */
export const addOperator =
  ({ people: { operators }, secrets }: Pick<Ports, 'people' | 'secrets'>) =>
  async (
    { name, role }: Pick<Operator, 'name' | 'role'>,
    password: string,
  ): Promise<OperatorId | 'name-taken' | 'invalid-name' | NewPasswordRefusal> => {
    if (!isOperatorName(name)) return 'invalid-name'
    const refusal = await newPasswordRefusal({ secrets }, password, name)
    return refusal ?? operators.add({ name, role }, await secrets.hashPassword(password, 'sign-in'))
  }

/** Replaces the password of an operator, which ends all sessions. */
export const setOperatorPassword =
  ({ people: { operators }, secrets }: Pick<Ports, 'people' | 'secrets'>) =>
  async (id: OperatorId, password: string): Promise<'set' | 'no-such-operator' | NewPasswordRefusal> => {
    const named = (await operators.list()).find((one) => one.id === id)
    const refusal = await newPasswordRefusal({ secrets }, password, named?.name ?? '')
    if (refusal !== undefined) return refusal
    return (await operators.setPassword(id, await secrets.hashPassword(password, 'sign-in')))
      ? 'set'
      : 'no-such-operator'
  }

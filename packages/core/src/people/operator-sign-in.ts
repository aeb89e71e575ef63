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
  type AskedForCode,
  type SignInArea,
} from './sign-in-steps.ts'
import type { Ports } from '../ports.ts'
import type { Instant } from '../time/instant.ts'
import type { Operator, OperatorId, OperatorLogin, OperatorSession } from './operators.ts'

type OperatorPorts = FactorPorts & Pick<Ports, 'operators'>

/** What is asked of all operators. */
export interface OperatorSettings {
  /** Whoever signs in has to have a second factor. */
  readonly secondFactorRequired: boolean
}

/** Somebody who says to be an operator. */
export interface OperatorPair {
  readonly name: string
  readonly password: string
  /** As `PasswordAttempt`. */
  readonly network: string
  readonly address: string
}

export type SignInRefusal = 'wrong-credentials' | 'overloaded' | TooManyFailures

/** 1 to 64 printable ASCII characters without spaces, as of a user name. */
const isOperatorName = (text: string): boolean => /^[!-~]{1,64}$/.test(text)

/** Operators, by name. */
export const operatorArea = (
  ports: OperatorPorts,
  { secondFactorRequired }: OperatorSettings,
): SignInArea<OperatorLogin> => ({
  ownerOf: ({ operator }) => factorOwner('operator', operator.id),
  labelOf: ({ operator }) => operator.name,
  isRequired: () => Promise.resolve(secondFactorRequired),
  byName: (name) => ports.operators.byName(name),
  async open({ operator, password }, browser, secondFactor) {
    const { token, ...session } = newSession(ports, browser, secondFactor)
    const id = await ports.operators.openSession(operator.id, password, session, sessionBounds)
    return id === undefined ? 'wrong-credentials' : { id, token }
  },
})

/**
 * Opens a session, or asks for a code. Failures are counted as those of account holders are (ruling 1.26), under a name
 * that no account can have. Whether the name exists, or is locked, is told to nobody.
 */
export const signInOperator =
  (ports: OperatorPorts, settings: OperatorSettings) =>
  async (pair: OperatorPair, browser: Browser): Promise<OpenedSession | AskedForCode | SignInRefusal> => {
    const login = await checkOperator(ports, pair)
    if (typeof login === 'string' || 'retryAfterSeconds' in login) return login
    const strong = await withStrongHash(ports, login, pair.password)
    return afterPassword(ports, operatorArea(ports, settings), strong, pair.name, browser)
  }

/** Stores a stronger hash of the password that was right, where the operator has one of an older version. */
async function withStrongHash(
  { operators, secrets }: OperatorPorts,
  login: OperatorLogin,
  typed: string,
): Promise<OperatorLogin> {
  if (!secrets.isWeakForSignIn(login.password)) return login
  const password = await secrets.hashPassword(typed, 'sign-in')
  const isReplaced = await operators.replaceHash(login.operator.id, login.password, password)
  return isReplaced ? { ...login, password } : login
}

/**
 * The same for whom an identity provider names. It takes the place of the password only: a second factor is asked for
 * all the same. Names are ASCII, in which letter case is the same everywhere.
 */
export const signInNamedOperator =
  (ports: OperatorPorts, settings: OperatorSettings) =>
  async (name: string, browser: Browser): Promise<OpenedSession | AskedForCode | 'wrong-credentials'> => {
    const login = isOperatorName(name) ? await ports.operators.byName(name) : undefined
    if (login === undefined || login.operator.locked) return 'wrong-credentials'
    return afterPassword(ports, operatorArea(ports, settings), login, name, browser)
  }

async function checkOperator(
  { operators, secrets, clock }: OperatorPorts,
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

/** Who is signed in with a token, read afresh; undefined: the session is over, or is not enough any more. */
export const findOperatorSession =
  (ports: Pick<Ports, 'operators' | 'secrets'>, { secondFactorRequired }: OperatorSettings) =>
  async (
    token: string,
    use = true,
  ): Promise<{ readonly operator: Operator; readonly session: OperatorSession } | undefined> => {
    const found = await ports.operators.findSession(ports.secrets.hashKey(token), sessionBounds, use)
    return secondFactorRequired && found?.session.secondFactor === false ? undefined : found
  }

/** So long an operator looks at an account at the most. */
export const actingSeconds = 30 * 60

/** Who acts as an account, read afresh. */
export interface ActingOperator extends AccountWithBalance {
  readonly operator: Operator
  readonly session: OperatorSession
  readonly until: Instant
}

/** Undefined: the session is over, or acts as no account (any more). */
export const findActing =
  (ports: Pick<Ports, 'accounts' | 'operators' | 'secrets'>, settings: OperatorSettings) =>
  async (token: string, use = true): Promise<ActingOperator | undefined> => {
    const found = await findOperatorSession(ports, settings)(token, use)
    const actsAs = found?.session.actsAs
    const account = actsAs && (await ports.accounts.find(actsAs.account))
    return account && { ...found, ...account, until: actsAs.until }
  }

/** An operator changes the own password. It ends every session; the new one is for the browser that asked. */
export const changeOperatorPassword =
  (ports: OperatorPorts, settings: OperatorSettings) =>
  async (
    pair: OperatorPair,
    wanted: string,
    browser: Browser,
  ): Promise<OpenedSession | SignInRefusal | NewPasswordRefusal> => {
    const refusal = await newPasswordRefusal(ports, wanted, pair.name)
    if (refusal !== undefined) return refusal
    const checked = await checkOperator(ports, pair)
    if (typeof checked === 'string' || 'retryAfterSeconds' in checked) return checked
    const password = await ports.secrets.hashPassword(wanted, 'sign-in')
    await ports.operators.setPassword(checked.operator.id, password)
    const area = operatorArea(ports, settings)
    const secondFactor = (await ports.secondFactors.find(area.ownerOf(checked))) !== undefined
    return area.open({ ...checked, password }, browser, secondFactor)
  }

/** Asks for the password again: whoever finds a session open must not lock its owner out. */
export const beginOperatorFactor =
  (ports: OperatorPorts) =>
  async (
    { id, name }: Operator,
    pair: Omit<OperatorPair, 'name'>,
  ): Promise<FactorToSetUp | 'already' | SignInRefusal> => {
    const checked = await checkOperator(ports, { ...pair, name })
    if (typeof checked === 'string' || 'retryAfterSeconds' in checked) return checked
    return ownSecondFactor(ports).begin(factorOwner('operator', id), name)
  }

export const listOperatorSessions =
  ({ operators }: Pick<Ports, 'operators'>) =>
  (of: OperatorId): Promise<readonly OperatorSession[]> =>
    operators.listSessions(of, sessionBounds)

export const endOperatorSessions =
  ({ operators }: Pick<Ports, 'operators'>) =>
  (of: OperatorId, only?: SessionId): Promise<number> =>
    operators.endSessions(of, only)

/** Adds an operator with a first password. */
export const addOperator =
  ({ operators, secrets }: Pick<Ports, 'operators' | 'secrets'>) =>
  async (
    { name, role }: Pick<Operator, 'name' | 'role'>,
    password: string,
  ): Promise<OperatorId | 'name-taken' | 'invalid-name' | NewPasswordRefusal> => {
    if (!isOperatorName(name)) return 'invalid-name'
    const refusal = await newPasswordRefusal({ secrets }, password, name)
    return refusal ?? operators.add({ name, role }, await secrets.hashPassword(password, 'sign-in'))
  }

/** Gives an operator another password, which ends all sessions. */
export const setOperatorPassword =
  ({ operators, secrets }: Pick<Ports, 'operators' | 'secrets'>) =>
  async (id: OperatorId, password: string): Promise<'set' | 'no-such-operator' | NewPasswordRefusal> => {
    const named = (await operators.list()).find((one) => one.id === id)
    const refusal = await newPasswordRefusal({ secrets }, password, named?.name ?? '')
    if (refusal !== undefined) return refusal
    return (await operators.setPassword(id, await secrets.hashPassword(password, 'sign-in')))
      ? 'set'
      : 'no-such-operator'
  }

import type { TooManyFailures } from '../account/secrets.ts'
import { isPassword } from '../account/change-account.ts'
import { chosenPasswordMin, newSession, type Browser, type OpenedSession } from '../account/sign-in.ts'
import { sessionBounds, type SessionId } from '../account/sessions.ts'
import type { Ports } from '../ports.ts'
import type { Operator, OperatorId, OperatorLogin, OperatorSession } from './operators.ts'

type OperatorPorts = Pick<Ports, 'operators' | 'secrets' | 'clock'>

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

/**
 * Opens a session. Failures are counted as those of account holders are (ruling 1.26), under a name that no account
 * can have. Whether the name exists, or is locked, is told to nobody.
 */
export const signInOperator =
  (ports: OperatorPorts) =>
  async (pair: OperatorPair, browser: Browser): Promise<OpenedSession | SignInRefusal> => {
    const login = await checkOperator(ports, pair)
    if (typeof login === 'string' || 'retryAfterSeconds' in login) return login
    return openSession(ports, login, browser)
  }

async function checkOperator(
  { operators, secrets, clock }: OperatorPorts,
  { name, password, network, address }: OperatorPair,
): Promise<OperatorLogin | SignInRefusal> {
  const stored = () => operators.byName(name)
  const checked = await secrets.checkPassword({
    ...{ login: `operator ${name}`, password, network, address, now: clock.now() },
    ...{ remembered: stored, stored, mayUse: ({ operator }: OperatorLogin) => !operator.locked },
  })
  return checked === 'wrong' ? 'wrong-credentials' : checked
}

async function openSession(
  ports: OperatorPorts,
  { operator, password }: OperatorLogin,
  browser: Browser,
): Promise<OpenedSession | 'wrong-credentials'> {
  const { token, ...session } = newSession(ports, browser)
  const id = await ports.operators.openSession(operator.id, password, session, sessionBounds)
  return id === undefined ? 'wrong-credentials' : { id, token }
}

/** Who is signed in with a token, read afresh; undefined: the session is over. */
export const findOperatorSession =
  (ports: Pick<Ports, 'operators' | 'secrets'>) =>
  (
    token: string,
    use = true,
  ): Promise<{ readonly operator: Operator; readonly session: OperatorSession } | undefined> =>
    ports.operators.findSession(ports.secrets.hashKey(token), sessionBounds, use)

/** An operator changes the own password. It ends every session; the new one is for the browser that asked. */
export const changeOperatorPassword =
  (ports: OperatorPorts) =>
  async (
    pair: OperatorPair,
    wanted: string,
    browser: Browser,
  ): Promise<OpenedSession | SignInRefusal | 'too-short' | 'invalid-password'> => {
    const refusal = passwordRefusal(wanted)
    if (refusal !== undefined) return refusal
    const checked = await checkOperator(ports, pair)
    if (typeof checked === 'string' || 'retryAfterSeconds' in checked) return checked
    const password = await ports.secrets.hashPassword(wanted)
    await ports.operators.setPassword(checked.operator.id, password)
    return openSession(ports, { ...checked, password }, browser)
  }

export const listOperatorSessions =
  ({ operators }: Pick<Ports, 'operators'>) =>
  (of: OperatorId): Promise<readonly OperatorSession[]> =>
    operators.listSessions(of, sessionBounds)

export const endOperatorSessions =
  ({ operators }: Pick<Ports, 'operators'>) =>
  (of: OperatorId, only?: SessionId): Promise<number> =>
    operators.endSessions(of, only)

const passwordRefusal = (wanted: string): 'too-short' | 'invalid-password' | undefined => {
  if (!isPassword(wanted)) return 'invalid-password'
  return wanted.length < chosenPasswordMin ? 'too-short' : undefined
}

/** Adds an operator with a first password. */
export const addOperator =
  ({ operators, secrets }: Pick<Ports, 'operators' | 'secrets'>) =>
  async (
    { name, role }: Pick<Operator, 'name' | 'role'>,
    password: string,
  ): Promise<OperatorId | 'name-taken' | 'invalid-name' | 'too-short' | 'invalid-password'> => {
    if (!isOperatorName(name)) return 'invalid-name'
    return passwordRefusal(password) ?? operators.add({ name, role }, await secrets.hashPassword(password))
  }

/** Gives an operator another password, which ends all sessions. */
export const setOperatorPassword =
  ({ operators, secrets }: Pick<Ports, 'operators' | 'secrets'>) =>
  async (id: OperatorId, password: string): Promise<'set' | 'no-such-operator' | 'too-short' | 'invalid-password'> => {
    const refusal = passwordRefusal(password)
    if (refusal !== undefined) return refusal
    return (await operators.setPassword(id, await secrets.hashPassword(password))) ? 'set' : 'no-such-operator'
  }

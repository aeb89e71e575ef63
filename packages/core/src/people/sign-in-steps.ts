import type { Ports } from '../ports.ts'
import {
  checkCode,
  openChallenge,
  sealChallenge,
  setUp,
  toSetUp,
  type FactorPorts,
  type FactorToSetUp,
  type RecoveryCodes,
} from './second-factor.ts'
import type { FactorOwner } from './second-factors.ts'
import type { PasswordOwner, TooManyFailures } from './secrets.ts'
import type { NewSession, SessionId } from './sessions.ts'

/** Kind of people who sign in: account holders with their users, or operators. */
export interface SignInArea<Owner extends PasswordOwner> {
  readonly ownerOf: (person: Owner) => FactorOwner
  /** Returns the label under which an authenticator lists the account. */
  readonly labelOf: (person: Owner) => string
  readonly isRequired: (person: Owner) => Promise<boolean>
  /** Reads the owner of a name from the store. Returns undefined if nobody may sign in with it. */
  readonly byName: (name: string) => Promise<Owner | undefined>
  /** Opens a session. Returns 'wrong-credentials' if the password has changed meanwhile or the person is locked. */
  readonly open: (
    person: Owner,
    browser: Browser,
    secondFactor: boolean,
  ) => Promise<OpenedSession | 'wrong-credentials'>
}

/**
 * Result of a correct password if a code is also required. The person must enter a code of the authenticator or, if a
 * second factor has yet to be set up, the first code of its new secret.
 */
export interface CodeRequest {
  readonly challenge: string
  readonly toSetUp?: FactorToSetUp | undefined
}

/** Continues after a correct password: opens a session, or requests the code that is required first. */
export async function afterPassword<Owner extends PasswordOwner>(
  ports: FactorPorts,
  area: SignInArea<Owner>,
  person: Owner,
  name: string,
  browser: Browser,
): Promise<OpenedSession | 'wrong-credentials' | CodeRequest> {
  const of = area.ownerOf(person)
  const challenge = { of, name, password: ports.secrets.hashKey(person.password ?? '') }
  if ((await ports.people.secondFactors.find(of)) !== undefined) return { challenge: sealChallenge(ports, challenge) }
  if (!(await area.isRequired(person))) return area.open(person, browser, false)
  const prepared = await toSetUp(ports, challenge, area.labelOf(person))
  return { challenge: prepared.challenge, toSetUp: prepared }
}

/**
 * Opens a session with the challenge of `afterPassword` and a code. If a secret was set up, recovery codes are returned
 * too. Returns 'over' if the challenge has expired or the password has changed meanwhile.
 */
export const signInWithCode =
  <Owner extends PasswordOwner>(ports: FactorPorts, area: SignInArea<Owner>) =>
  async (
    challenge: string,
    code: string,
    browser: Browser,
  ): Promise<(OpenedSession & Partial<RecoveryCodes>) | 'wrong-code' | 'over' | TooManyFailures> => {
    const opened = openChallenge(ports, challenge)
    if (opened?.name === undefined) return 'over'
    const person = await area.byName(opened.name)
    const isSame = person !== undefined && area.ownerOf(person) === opened.of
    if (!isSame || ports.secrets.hashKey(person.password ?? '') !== opened.password) return 'over'
    const checked =
      opened.secret === undefined ? await checkCode(ports, opened.of, code) : await setUp(ports, opened, code)
    if (checked === 'wrong-code') return checked
    if (checked === 'already') return 'over'
    if (checked !== 'right' && 'retryAfterSeconds' in checked) return checked
    const session = await area.open(person, browser, true)
    if (session === 'wrong-credentials') return 'over'
    return checked === 'right' ? session : { ...session, ...checked }
  }

/** Session for the browser to store. The gateway does not store its token. */
export interface OpenedSession {
  readonly id: SessionId
  readonly token: string
}

export type Browser = Pick<NewSession, 'agent' | 'address'>

const agentCharactersMax = 200

/**
 * Creates a session with a new token. The browser's previous token is never reused, so that a token planted before the
 * sign-in is worthless.
 */
export function newSession(
  { secrets }: Pick<Ports, 'secrets'>,
  { agent, address }: Browser,
  secondFactor: boolean,
): NewSession & { readonly token: string } {
  const token = secrets.newToken()
  return { token, hash: secrets.hashKey(token), agent: agent.slice(0, agentCharactersMax), address, secondFactor }
}

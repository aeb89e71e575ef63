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

/** People of one kind who sign in: account holders with their users, or operators. */
export interface SignInArea<Owner extends PasswordOwner> {
  readonly ownerOf: (person: Owner) => FactorOwner
  /** By what an authenticator lists it. */
  readonly labelOf: (person: Owner) => string
  readonly isRequired: (person: Owner) => Promise<boolean>
  /** Who has the name, read afresh. Undefined: nobody who may sign in. */
  readonly byName: (name: string) => Promise<Owner | undefined>
  /** 'wrong-credentials': the password is another one meanwhile, or the person is locked. */
  readonly open: (
    person: Owner,
    browser: Browser,
    secondFactor: boolean,
  ) => Promise<OpenedSession | 'wrong-credentials'>
}

/** The password was right. A code is asked for: of the authenticator, or the first one of a secret to be set up. */
export interface AskedForCode {
  readonly challenge: string
  readonly toSetUp?: FactorToSetUp | undefined
}

/** After the password was right: a session, or what is asked for before there is one. */
export async function afterPassword<Owner extends PasswordOwner>(
  ports: FactorPorts,
  area: SignInArea<Owner>,
  person: Owner,
  name: string,
  browser: Browser,
): Promise<OpenedSession | 'wrong-credentials' | AskedForCode> {
  const of = area.ownerOf(person)
  const challenge = { of, name, password: ports.secrets.hashKey(person.password ?? '') }
  if ((await ports.secondFactors.find(of)) !== undefined) return { challenge: sealChallenge(ports, challenge) }
  if (!(await area.isRequired(person))) return area.open(person, browser, false)
  const prepared = await toSetUp(ports, challenge, area.labelOf(person))
  return { challenge: prepared.challenge, toSetUp: prepared }
}

/**
 * Opens a session with the challenge of `afterPassword` and a code. With a secret that was to be set up the session
 * comes with recovery codes. 'over': the challenge is too old, or the person has another password meanwhile.
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

/** What a browser keeps of its session; stored nowhere. */
export interface OpenedSession {
  readonly id: SessionId
  readonly token: string
}

export type Browser = Pick<NewSession, 'agent' | 'address'>

const agentCharactersMax = 200

/** A new token for each session: what a browser brought along before it signed in is worth nothing. */
export function newSession(
  { secrets }: Pick<Ports, 'secrets'>,
  { agent, address }: Browser,
  secondFactor: boolean,
): NewSession & { readonly token: string } {
  const token = secrets.newToken()
  return { token, hash: secrets.hashKey(token), agent: agent.slice(0, agentCharactersMax), address, secondFactor }
}

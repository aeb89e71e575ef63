import type { Gateway } from '@gateway/core'
import type { Account, Credentials } from '@gateway/core/accounts'
import { type AdmissionGate, afterPlace, type TimeSlices, withPlace } from '@gateway/server'
import { type Failure, overLimit, overloaded } from './answer.ts'
import { type Element, type Pace, trimmed } from './reading/read-document.ts'

/** The credentials that a request contains; blank values are dropped. */
export interface CredentialsDraft {
  readonly apiKeys: string[]
  readonly users: string[]
  readonly passwords: string[]
}

export const credentialsDraft = (): CredentialsDraft => ({ apiKeys: [], users: [], passwords: [] })

/** The elements of the credentials, in the root of every request (spec 4.3). */
export const credentialElements = {
  ApiKey: notBlank((draft) => draft.apiKeys),
  User: notBlank((draft) => draft.users),
  Password: notBlank((draft) => draft.passwords),
}

function notBlank(values: (draft: CredentialsDraft) => string[]): Element<CredentialsDraft> {
  return trimmed((draft, text) => {
    if (text.trim() !== '') values(draft).push(text)
  })
}

/** Where a request comes from. */
export type Origin = Pick<Credentials, 'network' | 'address' | 'comesFrom'>

/** The key if there is one, else the pair (ruling 4.5). Undefined if there is neither, or one of them twice. */
export function credentialsOf(
  { apiKeys, users, passwords }: CredentialsDraft,
  origin: Origin,
): Credentials | undefined {
  const [apiKey, ...keys] = apiKeys
  if (apiKey !== undefined) return keys.length === 0 ? { apiKey, ...origin } : undefined
  const [[user, ...moreUsers], [password, ...morePasswords]] = [users, passwords]
  if (user === undefined || password === undefined) return undefined
  return moreUsers.length + morePasswords.length === 0 ? { pair: { user, password }, ...origin } : undefined
}

/** Who sends a document, as far as it has been read. */
export interface SignIn {
  /** Undefined: nobody yet, or not with right credentials. */
  early(): Promise<Account | undefined>
  /** Of a document that has been read to its end. */
  account(): Promise<Account | Failure>
}

/** Checks the credentials of a draft, once, unless more of them are read afterwards. */
export function signIn(
  { gateway, gate }: { readonly gateway: Gateway; readonly gate: AdmissionGate },
  draft: CredentialsDraft,
  origin: Origin,
): SignIn {
  let checked: { readonly values: number; readonly account: Account | Failure } | undefined
  const valuesRead = () => draft.apiKeys.length + draft.users.length + draft.passwords.length

  async function account(): Promise<Account | Failure> {
    const values = valuesRead()
    if (checked?.values === values) return checked.account
    const credentials = credentialsOf(draft, origin)
    const entered = gate.enter(origin.network)
    const check = () => authenticate(gateway, gate, credentials)
    // A pair may wait for its hash: that has a queue of its own.
    const found = await (credentials?.pair === undefined ? withPlace(entered, true, check) : afterPlace(entered, check))
    checked = { values, account: found ?? overloaded }
    return checked.account
  }

  return {
    account,
    async early() {
      if (checked === undefined && credentialsOf(draft, origin) === undefined) return undefined
      const found = await account()
      return 'id' in found ? found : undefined
    },
  }
}

async function authenticate(
  gateway: Gateway,
  gate: AdmissionGate,
  credentials: ReturnType<typeof credentialsOf>,
): Promise<Account | Failure> {
  if (credentials === undefined) return { trouble: 'wrong-credentials' }
  const account = await gateway.authenticate(credentials)
  if (account === 'wrong-credentials') return { trouble: 'wrong-credentials' }
  if (account !== 'overloaded' && 'id' in account) return account
  if (account !== 'overloaded' && 'overLimitSeconds' in account) return overLimit(account)
  await gate.refusals.turn(credentials.network)
  if (account === 'overloaded') return overloaded
  return { trouble: 'too-many-failures', retryAfterSeconds: account.retryAfterSeconds }
}

/** So much of a document is read before anybody asks who sends it; a single send has some 400 characters. */
const unknownCharactersMax = 8192
const waitMsMax = 10_000

/**
 * The pace at which a document is read: at its network's turn at first, then at that of its account. Where its
 * credentials are wrong, or come last, all documents like that get a part of the time together.
 */
export function paceFor(slices: TimeSlices, network: string, sender: SignIn): Pace {
  let characters = 0
  let waitedMs = 0
  return async (more, read) => {
    characters += more
    const account = characters > unknownCharactersMax ? await sender.early() : undefined
    const asked = performance.now()
    const timed = () => {
      waitedMs += performance.now() - asked
      return waitedMs > waitMsMax ? 'overloaded' : read()
    }
    if (account !== undefined) return slices.run(String(account.id), timed)
    return characters > unknownCharactersMax ? slices.runUnknown(network, timed) : slices.run(network, timed)
  }
}

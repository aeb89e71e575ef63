import type { Gateway } from '@gateway/core'
import type { Account, Credentials } from '@gateway/core/accounts'
import { type AdmissionGate, afterPlace, type TimeSlices, withPlace } from '@gateway/server'
import { type Failure, overLimit, overloaded } from './answer.ts'
import { type Element, type Pace, trimmed } from './reading/read-document.ts'

/** Credentials that a request contains. Blank values are dropped. */
export interface CredentialsDraft {
  readonly apiKeys: string[]
  readonly users: string[]
  readonly passwords: string[]
}

export const credentialsDraft = (): CredentialsDraft => ({ apiKeys: [], users: [], passwords: [] })

/** Readers of the credential elements in the root of every request (spec 4.3). */
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

/** Origin of a request. */
export type Origin = Pick<Credentials, 'network' | 'address' | 'comesFrom'>

/**
 * Returns the key if there is one, else login and password (ruling 4.5). Returns undefined if there is neither, or if
 * one of them is repeated.
 */
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

/** Identification of the sender of a document that may be only partly read. */
export interface SignIn {
  /** Returns the account, or undefined if no valid credentials have been read yet. */
  early(): Promise<Account | undefined>
  /** Returns the account of a document that has been read to its end, or the failure. */
  account(): Promise<Account | Failure>
}

/** Checks the credentials of a draft once, and again if more credentials are read afterwards. */
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
    // Checking a login and password may wait for the password hash, which has a queue of its own.
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
  const account = await gateway.commands.authenticate(credentials)
  if (account === 'wrong-credentials') return { trouble: 'wrong-credentials' }
  if (account !== 'overloaded' && 'id' in account) return account
  if (account !== 'overloaded' && 'overLimitSeconds' in account) return overLimit(account)
  await gate.refusals.turn(credentials.network)
  if (account === 'overloaded') return overloaded
  return { trouble: 'too-many-failures', retryAfterSeconds: account.retryAfterSeconds }
}

/** Number of characters that are read before the sender is identified. A single send has about 400. */
const unknownCharactersMax = 8192
const waitMsMax = 10_000

/**
 * Returns the pace at which a document is read. The first characters are read in the turn of the network, the others in
 * the turn of the account. Documents without valid credentials by then share one part of the time.
 */
export function paceFor(slices: TimeSlices, network: string, sender: SignIn): Pace {
  let characters = 0
  let waitedMs = 0
  return async (more, read) => {
    characters += more
    const account = characters > unknownCharactersMax ? await sender.early() : undefined
    const queuedAt = performance.now()
    const timed = () => {
      waitedMs += performance.now() - queuedAt
      return waitedMs > waitMsMax ? 'overloaded' : read()
    }
    if (account !== undefined) return slices.run(String(account.id), timed)
    return characters > unknownCharactersMax ? slices.runUnknown(network, timed) : slices.run(network, timed)
  }
}

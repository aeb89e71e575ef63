import type { Account, Gateway } from '@gateway/core'
import { afterPlace, withPlace, type AdmissionGate } from '@gateway/server'
import { overLimit, overloaded, type Failure } from './answer.ts'
import { credentialsOf, type CredentialsDraft, type Origin } from './credentials.ts'

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

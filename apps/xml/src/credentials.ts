import type { Credentials } from '@gateway/core'
import { trimmed, type Element } from './reading/element.ts'

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

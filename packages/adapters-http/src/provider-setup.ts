import { readFileSync } from 'node:fs'
import { listOf } from './description/json.ts'
import { placeholdersIn } from './description/template.ts'
import { shippedProvider, type ProviderName } from './providers.ts'

/** Secret that an operator enters into a form. */
export interface EnteredSecret {
  readonly name: string
  readonly label: string
  /** Place of the secret at the provider, and its use. */
  readonly hint: string | undefined
  /** True if sending needs it. Otherwise only callbacks need it. */
  readonly isRequired: boolean
}

/** Instructions for connecting a shipped provider. They are data beside its description. */
export interface ProviderSetup {
  /** Explanation of the sender address; undefined if the provider sends only from its own address. */
  readonly from?: string
  /** Explanation of the base URL; undefined if the provider has a single one. */
  readonly baseUrl?: string
  /** Steps at the provider's console before the carrier is connected. */
  readonly account: readonly string[]
  /** Steps at the provider's console by which it calls back. */
  readonly callbacks: readonly string[]
}

const loaded = new Map<ProviderName, ProviderSetup>()

/** Returns the instructions for a shipped provider, which are read at their first use. */
export function providerSetup(name: ProviderName): ProviderSetup {
  const known = loaded.get(name)
  if (known !== undefined) return known
  const text = readFileSync(new URL(`../providers/${name}.setup.json`, import.meta.url), 'utf8')
  const setup = JSON.parse(text) as ProviderSetup
  loaded.set(name, setup)
  return setup
}

/** Secrets that the operator and the provider need not agree on if a secret path verifies callbacks. */
const replacedByPath: ReadonlySet<string> = new Set(['callbackUser', 'callbackPassword'])

/**
 * Returns the secrets that an operator enters, in the order of the form. Label and hint are the text of the secret in
 * the description, before and after its first comma.
 */
export function enteredSecrets(provider: ProviderName): readonly EnteredSecret[] {
  const { description, sendSecrets } = shippedProvider(provider)
  return Object.entries(description.secrets ?? {})
    .filter(([name]) => !replacedByPath.has(name))
    .map(([name, text]) => {
      const [, label = text, hint] = /^([^,;]+)[,;] (.*)$/s.exec(text) ?? []
      const sentence = hint === undefined ? undefined : hint.charAt(0).toUpperCase() + hint.slice(1)
      return { name, label, hint: sentence, isRequired: sendSecrets.has(name) }
    })
}

/**
 * Returns true if callbacks are verified by a secret path, alone or beside a signature. That is not necessary if the
 * secrets for sending sign the callbacks, too.
 */
export function needsPath(provider: ProviderName): boolean {
  const { description, sendSecrets } = shippedProvider(provider)
  const { algorithm, key } = description.callbacks?.signature ?? {}
  if (algorithm === undefined) return false
  const names = listOf(key).flatMap(placeholdersIn)
  return algorithm === 'path' || !names.every((name) => sendSecrets.has(name.slice('secret.'.length)))
}

import { circuitDefaults } from '@gateway/carrier-kit'
import { carrierId, type CircuitBounds } from '@gateway/core/dispatch'
import { accountAt, type ProviderAccount } from './account.ts'
import { isVerifiable } from './callbacks/verify-callback.ts'
import { listOf } from './description/json.ts'
import { compileProvider } from './description/provider.ts'
import type { HttpDescription } from './description/schema.ts'
import { fillText } from './description/template.ts'
import type { NumberForm } from './numbers.ts'
import { withMaskedSecrets } from './requests/mask-secrets.ts'
import { secretValues } from './requests/secret-values.ts'
import { shippedProvider, type ProviderName } from './providers.ts'

/** All settings of one carrier over HTTP, as plain data. */
export interface HttpSettings extends CircuitBounds {
  /** Name of a shipped provider, or the operator's own description. */
  readonly provider: ProviderName | HttpDescription
  /** Values of the secrets, by name; two during a rotation, of which the first is used for sending. */
  readonly secrets: ProviderAccount['secrets']
  readonly baseUrl: string | undefined
  /** Sender of messages without a sender address. */
  readonly from: string | undefined
  /** Currency of prices without one. */
  readonly currency: string | undefined
  /** Form in which the provider writes numbers. If undefined, the form in the provider's description. */
  readonly numbers: NumberForm | undefined
  readonly country: string
  readonly trunkPrefix: string
  /** Maximum number of unanswered requests of each process, each on a connection of its own. */
  readonly window: number
  /**
   * Maximum number of messages a second, for all processes together. If undefined, only the provider's answers limit
   * the rate.
   */
  readonly perSecond: number | undefined
  /** Time limit for name resolution, connection and TLS handshake, in seconds. */
  readonly connectSeconds: number
  /** Time after which a request without a complete answer has an unknown outcome, in seconds. */
  readonly responseSeconds: number
  /** Seconds for which a message waits for a throttling provider before it returns to the queue. */
  readonly holdSeconds: number
  /** Public URL of the callbacks, without the path of the carrier. If undefined, no callbacks are requested. */
  readonly publicUrl: string | undefined
  /** Networks from which the provider calls back. If undefined, callbacks from any address are verified. */
  readonly callbackNetworks: readonly string[] | undefined
}

export const httpDefaults = {
  baseUrl: undefined,
  from: undefined,
  currency: undefined,
  numbers: undefined,
  country: '',
  trunkPrefix: '0',
  window: 20,
  perSecond: undefined,
  connectSeconds: 10,
  responseSeconds: 30,
  holdSeconds: 15,
  publicUrl: undefined,
  callbackNetworks: undefined,
  ...circuitDefaults,
} as const satisfies Omit<HttpSettings, 'provider' | 'secrets'>

/** Returns scheme, host and port of a URL with placeholders; empty for a path. */
export const originOf = (url: string): string => /^https?:\/\/[^/]+/.exec(url)?.[0] ?? ''

/** Returns the account of a carrier, for its requests, answers and callbacks. */
export function accountOf(settings: HttpSettings): ProviderAccount {
  const { provider } = settings
  return accountAt(typeof provider === 'string' ? shippedProvider(provider) : compileProvider(provider), settings)
}

/** Returns scheme, host and port of the provider. */
export const originOfAccount = ({ baseUrl, provider }: ProviderAccount): string =>
  new URL(baseUrl ?? originOf(provider.description.send.url)).origin

/**
 * Returns the URL at which the provider can call a carrier back: below the public URL, with the secret path, and with
 * user and password where the provider sends them.
 */
export function callbackUrl(account: ProviderAccount, carrier: string, publicUrl: string): string {
  if (carrierId(carrier) === undefined) throw new Error(`${JSON.stringify(carrier)} is not a carrier name`)
  const url = new URL(
    `${publicUrl.replace(/\/+$/, '')}/carriers/${carrier}/${account.secrets['path']?.[0] ?? 'callback'}`,
  )
  const { algorithm, key } = account.provider.description.callbacks?.signature ?? {}
  if (algorithm !== 'basic') return url.href
  const [user = '', password = ''] = listOf(key).map((each) => String(fillText(each, secretValues(account)) ?? ''))
  url.username = user
  url.password = password
  return url.href
}

/** URL that a carrier gives to its provider, and the same with masked secrets. */
export interface Callbacks {
  readonly url: string
  readonly masked: string
}

/** Returns the URL of the callbacks; undefined if there is no public URL, or nothing that verifies callbacks. */
export function callbacksOf(account: ProviderAccount, carrier: string, publicUrl?: string): Callbacks | undefined {
  if (publicUrl === undefined || !isVerifiable(account)) return undefined
  return {
    url: callbackUrl(account, carrier, publicUrl),
    masked: callbackUrl(withMaskedSecrets(account), carrier, publicUrl),
  }
}

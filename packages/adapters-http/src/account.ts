import type { NumberForm } from './numbers.ts'
import type { Provider } from './description/provider.ts'

/** An operator's account at a provider: everything that requests, answers and callbacks need besides the message. */
export interface ProviderAccount {
  readonly provider: Provider
  /**
   * Values of the secrets, by name. During a rotation, a secret has two values: the first is used to sign and send, and
   * callbacks are verified with each of them.
   */
  readonly secrets: Readonly<Record<string, readonly string[]>>
  /**
   * Replaces the scheme and host of the provider's URL. If this URL has a path, it precedes the path of the provider's
   * URL.
   */
  readonly baseUrl: string | undefined
  /** Sender of messages without a sender address. */
  readonly from: string | undefined
  /** Currency of prices without a currency. */
  readonly currency: string | undefined
  readonly numbers: NumberForm
  /** Calling code of the country that national numbers belong to. */
  readonly country: string
  /** Digits dialled before a national number. */
  readonly trunkPrefix: string
}

type Optional<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | undefined }

/**
 * Creates an account from these settings. For settings without a value, uses the provider's description or a default.
 */
export const accountAt = (
  provider: Provider,
  { secrets, baseUrl, from, currency, numbers, country, trunkPrefix }: Optional<Omit<ProviderAccount, 'provider'>>,
): ProviderAccount => ({
  ...{ provider, baseUrl, currency },
  from: from?.replace(/^\+(?=[0-9]+$)/, ''),
  secrets: secrets ?? {},
  numbers: numbers ?? provider.description.numbers ?? 'digits',
  country: country ?? '',
  trunkPrefix: trunkPrefix ?? '0',
})

import type { NumberForm } from './numbers.ts'
import type { Provider } from './description/provider.ts'

/** An operator's account at a provider: everything that requests, answers and callbacks need besides the message. */
export interface ProviderAccount {
  readonly provider: Provider
  /**
   * Values of the secrets, by name. During a rotation there are two: the first signs and sends, and callbacks are
   * verified with each of them.
   */
  readonly secrets: Readonly<Record<string, readonly string[]>>
  /** Replaces scheme and host of the provider's URL; a path in it comes before the path of the provider. */
  readonly baseUrl: string | undefined
  /** Sender of messages without a sender address. */
  readonly from: string | undefined
  /** Currency of prices without a currency. */
  readonly currency: string | undefined
  readonly numbers: NumberForm
  /** Calling code of the country of national numbers. */
  readonly country: string
  /** Digits dialled before a national number. */
  readonly trunkPrefix: string
}

type Optional<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | undefined }

/** Creates an account from the settings that were given, and what the description of the provider says. */
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

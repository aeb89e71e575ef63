import type { ProviderAccount } from '../account.ts'
import { buildRequest, type HttpRequest, type HttpSubmission } from './build-request.ts'
import { basicAuthorization, secretValues } from './secret-values.ts'

/** Text that replaces a secret wherever an operator or a log can see it. */
export const secretMask = '***'

/** Returns the account with masked secrets, so that a request can be shown as it was built. */
export const withMaskedSecrets = (account: ProviderAccount): ProviderAccount => ({
  ...account,
  secrets: Object.fromEntries(Object.keys(account.secrets).map((name) => [name, [secretMask]])),
})

/** Returns a request as `buildRequest` does, with masked secrets, for operators. */
export function buildMaskedRequest(account: ProviderAccount, submission: HttpSubmission): HttpRequest {
  const request = buildRequest(withMaskedSecrets(account), submission)
  // Base64 would make the mask unrecognizable.
  const isBasic = account.provider.description.send.basic !== undefined
  return isBasic ? { ...request, headers: { ...request.headers, authorization: `Basic ${secretMask}` } } : request
}

/** Secrets shorter than this are not searched for in texts of a provider, because they occur there by chance. */
const searchedLengthMin = 6

/**
 * Masks every secret of the account in a text of a provider, in each form in which the secret was sent to the provider.
 */
export function maskSecrets(text: string, account: ProviderAccount): string {
  const { basic } = account.provider.description.send
  const values = Object.values(account.secrets)
    .flat()
    .filter(({ length }) => length >= searchedLengthMin)
  const pair = basic === undefined ? [] : [basicAuthorization(basic, secretValues(account)).slice('Basic '.length)]
  return [...pair, ...values.flatMap((value) => [value, encodeURIComponent(value)])]
    .toSorted((one, other) => other.length - one.length)
    .reduce((masked, value) => masked.replaceAll(value, secretMask), text)
}

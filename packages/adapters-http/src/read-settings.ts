import { pathLengthMin } from './callbacks/verify-callback.ts'
import type { Provider } from './description/provider.ts'
import { isShipped, providerNames, shippedProvider } from './providers.ts'
import { httpDefaults, originOf, type HttpSettings } from './settings.ts'
import { baseUrlProblem, isNetwork } from './transport/base-url.ts'

/** Fields of a carrier as they are configured, with resolved secrets. */
export type HttpFields = Omit<Partial<HttpSettings>, 'provider'> & {
  readonly provider: unknown
  readonly secrets: HttpSettings['secrets']
}

/**
 * Completes the settings of a carrier. Rejects with an Error whose lines name the fields that are wrong, never the
 * value of a secret. Plain http is accepted for loopback addresses and the networks of `allow`.
 */
export async function httpSettingsOf(fields: HttpFields, allow: readonly string[]): Promise<HttpSettings> {
  const provider = await providerOf(fields.provider)
  const problems = [
    ...('problems' in provider ? provider.problems : secretProblems(provider, fields.secrets)),
    ...environmentProblems(fields, allow),
    ...networkProblems(fields.callbackNetworks),
  ]
  if (problems.length === 0 && !('problems' in provider)) problems.push(...urlProblems(provider, fields.baseUrl, allow))
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const present = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  return { ...httpDefaults, ...present, provider: fields.provider as HttpSettings['provider'], secrets: fields.secrets }
}

async function providerOf(value: unknown): Promise<Provider | { readonly problems: readonly string[] }> {
  if (typeof value === 'string') {
    if (isShipped(value)) return shippedProvider(value)
    return { problems: [`provider: one of ${providerNames.join(', ')} is expected, or a description`] }
  }
  // Loaded only for a custom description, because its libraries take 0.3 s to load.
  const { isUsable, readDescription } = await import('./description/read-description.ts')
  const read = readDescription(value)
  return isUsable(read) ? read : { problems: read.problems.map((each) => `provider${each}`) }
}

const networkProblems = (networks: readonly string[] = []): readonly string[] =>
  networks
    .filter((each) => !isNetwork(each))
    .map((each) => `callbackNetworks: ${JSON.stringify(each)} is not a network such as 192.0.2.0/24`)

function secretProblems(
  { sendSecrets, callbackSecrets }: Provider,
  secrets: HttpSettings['secrets'],
): readonly string[] {
  const known = new Set([...sendSecrets, ...callbackSecrets])
  const missing = [...sendSecrets].filter((name) => !Object.hasOwn(secrets, name))
  const unknown = Object.keys(secrets).filter((name) => !known.has(name))
  const isShort = (secrets['path'] ?? []).some(({ length }) => length < pathLengthMin)
  return [
    ...missing.map((name) => `secrets: ${JSON.stringify(name)} is missing`),
    ...unknown.map((name) => `secrets: the provider has no secret ${JSON.stringify(name)}`),
    ...(isShort
      ? [`secrets/path: at least ${pathLengthMin} characters are expected, such as openssl rand -hex 16`]
      : []),
  ]
}

/** Checks the values of the variables `PUBLIC_URL` and `CARRIER_HTTP_ALLOW`. */
function environmentProblems({ publicUrl }: HttpFields, allow: readonly string[]): readonly string[] {
  const isUrl = publicUrl === undefined || (URL.canParse(publicUrl) && /^https?:/.test(publicUrl))
  const odd = allow.find((network) => !isNetwork(network))
  return [
    ...(isUrl ? [] : ['PUBLIC_URL: a URL such as https://sms.example.com is expected']),
    ...(odd === undefined
      ? []
      : [`CARRIER_HTTP_ALLOW: ${JSON.stringify(odd)} is not a network such as 192.168.0.0/16`]),
  ]
}

function urlProblems(
  { description }: Provider,
  baseUrl: string | undefined,
  allow: readonly string[],
): readonly string[] {
  const isPath = description.send.url.startsWith('/')
  if (baseUrl === undefined && isPath) return ['baseUrl: the provider has no URL of its own, so it is needed']
  const problem = baseUrlProblem(baseUrl ?? originOf(description.send.url), allow)
  return problem === undefined ? [] : [`${baseUrl === undefined ? 'provider/send/url' : 'baseUrl'}: ${problem}`]
}

import { pathLengthMin } from './callbacks/verify-callback.ts'
import type { Provider } from './description/provider.ts'
import { isUsable, readDescription } from './description/read-description.ts'
import { isShipped, providerNames, shippedProvider } from './providers.ts'
import { httpDefaults, originOf, type HttpSettings } from './settings.ts'
import { baseUrlProblem } from './transport/base-url.ts'

type Schema = Readonly<Record<string, unknown>>

const whole = (minimum: number, maximum: number, description: string): Schema => ({
  ...{ type: 'integer', minimum, maximum, description },
})

/** JSON Schemas (draft 7) of the settings of a carrier over HTTP, without its secrets (docs/http-carriers.md). */
export const httpParameters: Readonly<Record<string, Schema>> = {
  provider: {
    type: ['string', 'object'],
    description: `One of ${providerNames.join(', ')}; or a description by http-provider.schema.json`,
  },
  baseUrl: { type: 'string', minLength: 1, description: "Replaces scheme and host of the provider's URL" },
  from: {
    type: 'string',
    pattern: '^(\\+?[0-9]{3,15}|.{1,11})$',
    description: 'The sender of messages that have none',
  },
  currency: { type: 'string', pattern: '^[A-Z]{3}$', description: 'The currency of prices that name none' },
  numbers: { enum: ['digits', 'plus', '00', 'national'] },
  country: { type: 'string', pattern: '^[0-9]{0,4}$' },
  trunkPrefix: { type: 'string', pattern: '^[0-9]{0,4}$' },
  window: whole(1, 1000, 'Unanswered requests of each process'),
  perSecond: whole(1, 100_000, 'Messages a second of all processes'),
  connectSeconds: whole(1, 60, 'Time limit of a connection'),
  responseSeconds: whole(1, 60, 'Time limit of an answer'),
  holdSeconds: whole(1, 60, 'Seconds for which a message waits for a throttling provider'),
  silentSeconds: whole(1, 60, 'Seconds without any answer after which other carriers get the messages'),
  failuresPercent: whole(1, 100, 'Percentage of failures at which other carriers get the messages'),
  probeSeconds: whole(1, 600, 'Seconds until a failing carrier is tried again'),
  probeSecondsMax: whole(1, 600, 'Maximum seconds between two tries'),
}

/** Fields of a carrier as they are configured, with resolved secrets. */
export type HttpFields = Omit<Partial<HttpSettings>, 'provider'> & {
  readonly provider: unknown
  readonly secrets: HttpSettings['secrets']
}

/**
 * Completes the settings of a carrier. Throws an Error whose lines name the fields that are wrong, never the value of a
 * secret. Plain http is accepted for loopback addresses and the networks of `allow`.
 */
export function httpSettingsOf(fields: HttpFields, allow: readonly string[]): HttpSettings {
  const provider = providerOf(fields.provider)
  const problems = [
    ...('problems' in provider ? provider.problems : secretProblems(provider, fields.secrets)),
    ...('problems' in provider ? [] : urlProblems(provider, fields.baseUrl, allow)),
  ]
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const present = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  return { ...httpDefaults, ...present, provider: fields.provider as HttpSettings['provider'], secrets: fields.secrets }
}

function providerOf(value: unknown): Provider | { readonly problems: readonly string[] } {
  if (typeof value === 'string') {
    if (isShipped(value)) return shippedProvider(value)
    return { problems: [`provider: one of ${providerNames.join(', ')} is expected, or a description`] }
  }
  const read = readDescription(value)
  return isUsable(read) ? read : { problems: read.problems.map((each) => `provider${each}`) }
}

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

import { createHash, randomBytes } from 'node:crypto'
import { secondsAfter, type Clock, type Instant } from '@gateway/core/time'
import type { Log, OidcSettings } from '@gateway/server'
import type * as Library from 'openid-client'

/** Reason why a person who returns from the provider is not signed in. */
export type ProviderRefusal =
  'unreachable' | 'busy' | 'begun-elsewhere' | 'denied' | 'refused' | 'no-name' | 'unverified'

/** Name of the person according to the provider, and the page that the person requested. */
export interface IdentifiedPerson {
  readonly name: string
  readonly to: string
}

/** OpenID provider that identifies people: authorization code flow with PKCE, state and nonce. */
export interface OidcProvider {
  /** Host name of the provider, by which people recognize it. */
  readonly host: string
  /**
   * Returns the address to redirect to, and a token that the browser keeps until the provider redirects it back to
   * `answerAt`.
   */
  begin(answerAt: URL, to: string): Promise<{ readonly leaveTo: URL; readonly token: string } | 'unreachable'>
  /**
   * Verifies the redirect back from the provider. `answered` is its address, and `token` is what the browser has kept.
   */
  finish(answered: URL, token: string | undefined): Promise<IdentifiedPerson | ProviderRefusal>
}

/** Time for which the provider's metadata (endpoints and keys) is cached. */
const metadataSeconds = 3600
const timeoutSeconds = 5
/**
 * Maximum number of concurrent exchanges with the provider. Each one occupies a place of the admission gate until the
 * provider responds.
 */
const exchangesMax = 8

/**
 * Derives state, nonce and verifier from the token in the browser, so that any process can finish a sign-in that
 * another process began.
 */
const madeFrom = (token: string, purpose: string): string =>
  createHash('sha256').update(`${purpose} of ${token}`).digest('base64url')

const stateOf = (token: string, to: string): string =>
  `${madeFrom(token, `state to ${to}`)}.${Buffer.from(to).toString('base64url')}`

interface Surroundings {
  readonly log: Log
  readonly clock: Clock
}

export function oidcProvider(settings: OidcSettings, { log, clock }: Surroundings): OidcProvider {
  const { claim, issuer } = settings
  let known: { readonly configuration: Promise<Library.Configuration | undefined>; readonly until: Instant } | undefined
  let exchanges = 0

  const warn = (problem: unknown): undefined => {
    // Only these fields are logged, because the causes may contain codes and tokens.
    const { message, error } = problem as { message?: string; error?: string }
    log.warn(
      { issuer, problem: { message, code: systemCode(problem), error } },
      'signing in with the OpenID provider failed',
    )
  }

  async function discovered(): Promise<Library.Configuration | undefined> {
    if (known === undefined || known.until <= clock.now()) {
      const configuration = discover(settings).catch(warn)
      const until = secondsAfter(clock.now(), metadataSeconds)
      known = { configuration, until }
      if ((await configuration) === undefined) known = undefined
      return configuration
    }
    return known.configuration
  }

  async function exchange(configuration: Library.Configuration, answered: URL, token: string, state: string) {
    const { authorizationCodeGrant, fetchUserInfo } = await import('openid-client')
    const tokens = await authorizationCodeGrant(configuration, answered, {
      pkceCodeVerifier: madeFrom(token, 'verifier'),
      expectedState: state,
      expectedNonce: madeFrom(token, 'nonce'),
      idTokenExpected: true,
    })
    const claims = tokens.claims()
    if (claims === undefined || claims[claim] !== undefined) return claims
    const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined
    return hasMore ? fetchUserInfo(configuration, tokens.access_token, claims.sub) : claims
  }

  return {
    host: new URL(issuer).host,
    async begin(answerAt, to) {
      const configuration = await discovered()
      if (configuration === undefined) return 'unreachable'
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client')
      const token = randomBytes(32).toString('base64url')
      const leaveTo = buildAuthorizationUrl(configuration, {
        redirect_uri: answerAt.href,
        scope: 'openid email profile',
        ...{ state: stateOf(token, to), nonce: madeFrom(token, 'nonce'), code_challenge_method: 'S256' },
        code_challenge: await calculatePKCECodeChallenge(madeFrom(token, 'verifier')),
      })
      return { leaveTo, token }
    },
    async finish(answered, token) {
      const state = answered.searchParams.get('state') ?? ''
      const to = Buffer.from(state.split('.')[1] ?? '', 'base64url').toString()
      if (token === undefined || state !== stateOf(token, to)) return 'begun-elsewhere'
      if (exchanges >= exchangesMax) return 'busy'
      exchanges++
      try {
        const configuration = await discovered()
        if (configuration === undefined) return 'unreachable'
        const claims = await exchange(configuration, answered, token, state)
        const name = nameIn(claims ?? {}, claim)
        return typeof name === 'string' ? name : { ...name, to }
      } catch (problem) {
        warn(problem)
        if (isAway(problem)) return 'unreachable'
        return isDenied(problem) ? 'denied' : 'refused'
      } finally {
        exchanges--
      }
    },
  }
}

async function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<Library.Configuration> {
  const library = await import('openid-client')
  const isPlain = new URL(issuer).protocol === 'http:'
  // oxlint-disable-next-line typescript/no-deprecated -- so named to stand out; the issuer is on this machine
  const plain = isPlain ? [library.allowInsecureRequests] : []
  return library.discovery(new URL(issuer), clientId, undefined, clientAuthOf(library, clientSecret), {
    timeout: timeoutSeconds,
    // Verify the signature of each token too, although tokens arrive over TLS.
    execute: [...plain, library.enableNonRepudiationChecks],
  })
}

/** Sends the client secret in a header, unless the provider accepts it only in the form. */
function clientAuthOf(library: typeof Library, secret: string | undefined): Library.ClientAuth {
  if (secret === undefined) return library.None()
  const [basic, post] = [library.ClientSecretBasic(secret), library.ClientSecretPost(secret)]
  return (provider, ...rest) => {
    const methods = provider.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const authenticate = methods.includes('client_secret_basic') ? basic : post
    authenticate(provider, ...rest)
  }
}

/** True if the provider itself denied the sign-in: the person pressed "cancel", or may not use this client. */
const isDenied = (problem: unknown): boolean =>
  problem instanceof Error && 'code' in problem && problem.code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR'

/** True if the provider did not respond in time, or could not be reached. */
const isAway = (problem: unknown): boolean =>
  causesOf(problem).some(({ code, message }) => code === 'OAUTH_TIMEOUT' || message === 'fetch failed')

interface Cause {
  readonly message?: string
  readonly code?: unknown
  readonly cause?: unknown
}

/** Returns an error followed by its chain of causes. */
const causesOf = (problem: unknown): readonly Cause[] =>
  typeof problem === 'object' && problem !== null ? [problem, ...causesOf((problem as Cause).cause)] : []

/** Returns the system code of an error, such as ECONNREFUSED or UNABLE_TO_GET_ISSUER_CERT_LOCALLY. */
const systemCode = (problem: unknown): string | undefined =>
  causesOf(problem)
    .map(({ code }) => code)
    .findLast((code): code is string => typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code))

function nameIn(
  claims: Readonly<Record<string, unknown>>,
  claim: string,
): Pick<IdentifiedPerson, 'name'> | ProviderRefusal {
  const { [claim]: name, email_verified: verified } = claims
  if (typeof name !== 'string' || name === '') return 'no-name'
  // Some providers send the claim as a string.
  if (claim === 'email' && verified !== true && verified !== 'true') return 'unverified'
  return { name }
}

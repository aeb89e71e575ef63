import { isIP } from 'node:net'
import { bool, EnvError, makeExactValidator, makeValidator, str } from 'envalid'
import { inNetworks, readNetwork } from './client-address.ts'
import type { Environment } from './environment.ts'

const HOST_NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*\.?$/i

const address = makeValidator<string>((input) => {
  if (isIP(input) === 0 && !HOST_NAME.test(input)) throw new EnvError('not an IP address or a host name')
  return input
})

const postgresUrl = makeValidator<string>((input) => {
  if (!/^postgres(ql)?:\/\//.test(input)) throw new EnvError('not the URL of a PostgreSQL server')
  return input
})

const httpServer = makeValidator<string>((input) => {
  if (!/^https?:\/\//.test(input) || !URL.canParse(input)) throw new EnvError('not the URL of an HTTP server')
  const { username, password, pathname, search, hash } = new URL(input)
  if (pathname !== '/' || search !== '' || hash !== '') throw new EnvError('the URL has a path, a query or a fragment')
  // Throws if the user name or the password cannot be decoded.
  decodeURIComponent(username + password)
  return input
})

const oidcIssuer = makeValidator<string>((input) => {
  const { protocol, hostname, search, hash } = URL.canParse(input) ? new URL(input) : new URL('none:')
  const isLoopback = /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback)) throw new EnvError('not the URL of a provider')
  if (search !== '' || hash !== '') throw new EnvError('the URL has a query or a fragment')
  return input
})

const httpAddress = makeValidator<string>((input) => {
  if (!/^https?:\/\//.test(input) || !URL.canParse(input)) throw new EnvError('not a URL of HTTP')
  return input
})

const whole = makeValidator<number>((input) => {
  if (!/^\d{1,15}$/.test(input)) throw new EnvError('not a whole number')
  return Number(input)
})

const portFrom = (min: 0 | 1) =>
  makeValidator<number>((input) => {
    const port = Number(input)
    if (!/^\d{1,5}$/.test(input) || port < min || port > 65_535) throw new EnvError('not a port')
    return port
  })

/** TCP port; undefined if unset. `description` states its use. With `min` 0, the value 0 takes any free port. */
export const optionalPort = (description: string, min: 0 | 1 = 1) =>
  portFrom(min)({ default: undefined, desc: `a TCP port ${description}, ${min} to 65535` })

/** URL that begins with `http://` or `https://`; undefined if unset. It may contain a secret. */
export const optionalUrl = (description: string) =>
  httpAddress({ default: undefined, desc: description, example: 'https://monitor.example.com/ping/4711' })

/** Text that is not blank; undefined if unset. */
export const optionalText = (description: string) => str({ default: undefined, desc: description })

/**
 * Variable whose value is a whole number from `min` to `max`, or `byDefault` if it is unset. `description` states its
 * meaning and unit, such as 'seconds a statement may take'.
 */
export const wholeNumber = (description: string, { min, max, byDefault }: Bounds) => {
  const spec = whole({ default: byDefault, desc: `${description}: a whole number from ${min} to ${max}` })
  const parse = (input: string): number => {
    const value = spec._parse(input)
    if (value < min || value > max) throw new EnvError('out of bounds')
    return value
  }
  return { ...spec, _parse: parse }
}

/** Text that is not blank, `byDefault` if unset. */
export const text = ({ description, byDefault }: { readonly description: string; readonly byDefault: string }) =>
  str({ default: byDefault, desc: description })

/** `true` or `false`, `byDefault` if unset. */
export const flag = (description: string, byDefault = false) =>
  bool({ default: byDefault, desc: `true or false: ${description}` })

/**
 * URL of a server: `http://` or `https://` without a path; undefined if unset. May contain a user name and a password.
 */
export const serverUrl = ({ description, example }: { readonly description: string; readonly example: string }) =>
  httpServer({ default: undefined, desc: description, example })

/**
 * Values separated by commas, in order, without duplicates; `byDefault` if unset. `read` parses one value, and
 * `description` describes it.
 */
export const listOf = <Value>({ description, read, byDefault }: ListOf<Value>) => {
  const list = makeExactValidator<readonly Value[]>((input) => {
    const values = input.split(',').map((text) => read(text.trim()))
    if (values.some((value) => value === undefined)) throw new EnvError('not a list of valid values')
    return [...new Set(values as readonly Value[])]
  })
  return list({ default: byDefault, desc: `${description}, separated by commas` })
}

interface ListOf<Value> {
  readonly description: string
  readonly read: (text: string) => Value | undefined
  readonly byDefault: readonly Value[]
}

interface Bounds {
  readonly min: number
  readonly max: number
  readonly byDefault: number
}

/**
 * Variables of every process: LOG_LEVEL (default info), DATABASE_URL (undefined if unset), DATA_DIR (default ./data).
 */
export const processVariables = {
  LOG_LEVEL: str({
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    default: 'info',
  }),
  DATABASE_URL: postgresUrl({
    default: undefined,
    desc: 'the address of a PostgreSQL, or nothing for the embedded one',
    example: 'postgres://user:password@host:5432/database',
  }),
  DATA_DIR: str({ default: './data', desc: 'a folder' }),
}

/**
 * Variables of a server: `processVariables`, HOST (default 127.0.0.1), PORT (default `byDefault`; 0 for any free port),
 * ADMIN_PORT (if unset, health and metrics are at PORT), and DRAIN_SECONDS (default 0), the time for which it still
 * serves after a stop signal.
 */
export const serverVariables = (byDefault: number) => ({
  ...processVariables,
  HOST: address({
    default: '127.0.0.1',
    desc: 'an IP address or a host name of this machine',
    example: '0.0.0.0 for every IPv4 address',
  }),
  PORT: wholeNumber('a TCP port (0 takes any free one)', { min: 0, max: 65_535, byDefault }),
  ADMIN_PORT: optionalPort('for health and metrics alone'),
  DRAIN_SECONDS: wholeNumber('seconds to serve on, not ready any more, before a stop', {
    min: 0,
    max: 3600,
    byDefault: 0,
  }),
})

/** Time limits of database calls, and the number of connections. */
export const databaseVariables = {
  STATEMENT_SECONDS: wholeNumber('seconds that a statement may take', { min: 1, max: 600, byDefault: 10 }),
  LOCK_SECONDS: wholeNumber('seconds that a statement waits for a lock', { min: 1, max: 600, byDefault: 5 }),
  CONNECTION_SECONDS: wholeNumber('seconds to wait for a connection', { min: 1, max: 60, byDefault: 2 }),
  CONNECTIONS_MAX: wholeNumber('connections for messages of this process', { min: 2, max: 100, byDefault: 8 }),
}

/** Returns the values of `databaseVariables` under the names of the database adapter. */
export const databaseSettings = (environment: Readonly<Record<keyof typeof databaseVariables, number>>) => ({
  statementSeconds: environment.STATEMENT_SECONDS,
  lockSeconds: environment.LOCK_SECONDS,
  connectionSeconds: environment.CONNECTION_SECONDS,
  hotConnectionsMax: environment.CONNECTIONS_MAX,
})

/** Returns an origin as browsers write it: scheme, host and port in lower case, without the default port. */
const readOrigin = (text: string): string | undefined =>
  URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text ? text : undefined

/** Limits of concurrent requests, in total and for each client. */
export const loadVariables = {
  REQUESTS_MAX: wholeNumber('requests worked on at a time', { min: 1, max: 100_000, byDefault: 1000 }),
  BODY_MEGABYTES_MAX: wholeNumber('megabytes of request bodies in memory', { min: 8, max: 10_000, byDefault: 64 }),
  CLIENTS_MAX: wholeNumber('connections of clients', { min: 1, max: 100_000, byDefault: 4000 }),
  CLIENTS_PER_NETWORK_MAX: wholeNumber('connections of clients from one network', {
    min: 1,
    max: 100_000,
    byDefault: 2000,
  }),
  TRUST_PROXY: listOf<string>({
    description: 'addresses or networks of proxies whose X-Forwarded-For counts, each like 10.0.0.0/8',
    read: readNetwork,
    byDefault: [],
  }),
  CORS_ORIGINS: listOf<string>({
    description: 'origins of pages that may call the REST interface, each like https://app.example.com',
    read: readOrigin,
    byDefault: [],
  }),
}

/** Values of `loadVariables` under the names of the gate and the server. */
export const loadSettings = (environment: Environment<typeof loadVariables>) => ({
  inFlightMax: environment.REQUESTS_MAX,
  gate: { bodyBytesMax: environment.BODY_MEGABYTES_MAX * 1024 * 1024 },
  limits: {
    connectionsMax: environment.CLIENTS_MAX,
    connectionsPerNetworkMax: environment.CLIENTS_PER_NETWORK_MAX,
    isProxy: inNetworks(environment.TRUST_PROXY),
  },
  proxies: environment.TRUST_PROXY,
  corsOrigins: environment.CORS_ORIGINS,
})

/** Limits of log-ins by user name and password (ruling 1.26). */
export const loginVariables = {
  LOGIN_FAILURES_MAX: wholeNumber('failed log-ins of one user from one network', {
    min: 1,
    max: 10_000,
    byDefault: 10,
  }),
  LOGIN_FAILURE_SECONDS: wholeNumber('seconds that each of them counts', { min: 1, max: 86_400, byDefault: 60 }),
  LOGINS_WAITING_MAX: wholeNumber('log-ins that wait for their password to be hashed', {
    min: 1,
    max: 10_000,
    byDefault: 150,
  }),
}

/** Returns the values of `loginVariables` under the names of the secrets adapter. */
export const loginSettings = (environment: Readonly<Record<keyof typeof loginVariables, number>>) => ({
  failuresMax: environment.LOGIN_FAILURES_MAX,
  failureSeconds: environment.LOGIN_FAILURE_SECONDS,
  waitingMax: environment.LOGINS_WAITING_MAX,
})

/** OpenID provider with which operators may sign in at the portal. */
export const oidcVariables = {
  OIDC_ISSUER: oidcIssuer({
    default: undefined,
    desc: 'the issuer of an OpenID provider: https://, or http:// on this machine',
    example: 'https://login.example.com/realms/staff',
  }),
  OIDC_CLIENT_ID: str({ default: undefined, desc: 'the id of the gateway as a client of the provider' }),
  OIDC_CLIENT_SECRET: str({ default: undefined, desc: 'the secret of that client, or nothing for a public one' }),
  OIDC_CLAIM: text({ description: 'the claim that has the name of an operator', byDefault: 'email' }),
}

export interface OidcSettings {
  readonly issuer: string
  readonly clientId: string
  /** Client secret; undefined for a public client, which PKCE alone protects. */
  readonly clientSecret: string | undefined
  /** Claim whose value is the name of an operator. An `email` counts only if the provider has verified it. */
  readonly claim: string
}

/** Returns the values of `oidcVariables`, or undefined if no provider is configured. */
export function oidcSettings(environment: Environment<typeof oidcVariables>): OidcSettings | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = environment
  if (issuer === undefined && clientId === undefined && clientSecret === undefined) return undefined
  if (issuer !== undefined && clientId !== undefined)
    return { issuer, clientId, clientSecret, claim: environment.OIDC_CLAIM }
  const missing = issuer === undefined ? 'OIDC_ISSUER' : 'OIDC_CLIENT_ID'
  throw new Error(
    `The environment cannot be used:\n  ${missing} is not set; it is required with the other OIDC_… variables`,
  )
}

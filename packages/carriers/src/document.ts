import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { httpSettingsOf, type HttpFields } from '@gateway/adapters-http'
import { smppSettingsOf } from '@gateway/adapters-smpp'
import type { AccountId } from '@gateway/core/accounts'
import type { CarrierId } from '@gateway/core/dispatch'
import type { SenderAddress } from '@gateway/core/messages'
import {
  checkRoutes,
  overflowDefaults,
  storedOverflow,
  type Overflow,
  type Route,
  type RouteProblem,
} from '@gateway/core/routes'
import { Ajv, type ErrorObject } from 'ajv'
import { specificationFromUrl, type CarrierSpecification } from './carrier-specification.ts'
import { carriersSchema } from './carriers-schema.ts'
import { lookUpsIn, type CarrierConfiguration, type LookUps, type Variables } from './configuration.ts'

type Secret = string | { readonly environment: string } | { readonly file: string } | { readonly stored: string }
type Fields = Readonly<Record<string, unknown>>

interface HttpEntry extends Omit<HttpFields, 'secrets' | 'publicUrl'> {
  readonly name: CarrierId
  readonly type: 'http'
  readonly secrets: Readonly<Record<string, Secret | readonly Secret[]>>
}

type SmppEntry = { readonly name: CarrierId; readonly type?: 'smpp' } & (
  | { readonly url: Secret }
  | (Fields & {
      readonly url?: undefined
      readonly host: string
      readonly port?: number
      readonly tls?: boolean
      readonly systemId: Secret
      readonly password: Secret
    })
)

type CarrierEntry = HttpEntry | SmppEntry

interface RouteEntry {
  readonly name: string
  readonly prefixes?: readonly string[]
  readonly accounts?: readonly AccountId[]
  readonly senders?: readonly SenderAddress[]
  readonly carriers: readonly { readonly carrier: CarrierId; readonly priority?: number; readonly weight?: number }[]
  readonly overflow?: Partial<Overflow>
}

interface Document {
  readonly publicUrl?: string
  readonly carriers: readonly CarrierEntry[]
  readonly routes?: readonly RouteEntry[]
}

/**
 * Reads the carriers and routes of a document. Throws an Error that names `what` and the invalid places of the
 * document, but never a value, because a value may be secret.
 */
export async function readDocument(
  title: string,
  content: unknown,
  lookUps: LookUps,
): Promise<Pick<CarrierConfiguration, 'carriers' | 'routes'>> {
  const wrong = schemaProblems(content)
  if (wrong.length > 0) return fail(title, wrong)
  const document = content as Document
  const carriers: CarrierSpecification[] = []
  const problems: string[] = []
  for (const [at, entry] of document.carriers.entries()) {
    try {
      if (document.carriers.findIndex(({ name }) => name === entry.name) < at)
        throw new Error(`an earlier carrier has the same name, ${JSON.stringify(entry.name)}`)
      carriers.push(await specificationOf(entry, lookUps, document.publicUrl))
    } catch (problem) {
      const lines = (problem as Error).message.split('\n')
      problems.push(...lines.map((line) => `/carriers/${at} (${entry.name}): ${line}`))
    }
  }
  const routes = document.routes?.map(routeOf) ?? []
  const names = document.carriers.map(({ name }) => name)
  problems.push(...routeProblems(routes, names))
  return problems.length > 0 ? fail(title, problems) : { carriers, routes }
}

export function fail(title: string, problems: readonly string[]): never {
  throw new Error(`${title} cannot be used:\n${problems.map((each) => `  ${each}`).join('\n')}`)
}

const specificationOf = async (
  entry: CarrierEntry,
  lookUps: LookUps,
  publicUrl: string | undefined,
): Promise<CarrierSpecification> =>
  entry.type === 'http' ? httpSpecificationOf(entry, lookUps, publicUrl) : smppSpecificationOf(entry, lookUps)

/**
 * Reads a carrier over HTTP. `CARRIER_HTTP_ALLOW`, and `PUBLIC_URL` where the document has no `publicUrl`, are looked
 * up like secrets, so that they are stored with the carriers and all processes send the same requests.
 */
async function httpSpecificationOf(
  { type: kind, name, ...entry }: HttpEntry,
  lookUps: LookUps,
  publicUrl: string | undefined,
): Promise<CarrierSpecification> {
  const secrets = Object.entries(entry.secrets).map(([secret, values]) => [
    secret,
    [values].flat().map((value) => resolved(`secrets/${secret}`, value, lookUps)),
  ])
  const fields = {
    ...entry,
    secrets: Object.fromEntries(secrets) as Readonly<Record<string, readonly string[]>>,
    publicUrl: publicUrl ?? lookUps.variable('PUBLIC_URL'),
  }
  const allow = lookUps.variable('CARRIER_HTTP_ALLOW')?.split(',') ?? []
  const networks = allow.map((network) => network.trim())
  return { id: name, kind, settings: await httpSettingsOf(fields, networks) }
}

function smppSpecificationOf(entry: SmppEntry, lookUps: LookUps): CarrierSpecification {
  const readFile = (path: string): string => lookUps.file(path)
  if (entry.url !== undefined) {
    return specificationFromUrl(entry.name, resolved('url', entry.url, lookUps), readFile)
  }
  const { name, type: _type, host, port, tls = false, systemId, password, ...rest } = entry
  const address = {
    ...{ host, port, isTls: tls },
    systemId: resolved('systemId', systemId, lookUps),
    password: resolved('password', password, lookUps),
  }
  const parameters = Object.entries(rest).map(([key, value]): [string, string] => [key, textOf(value)])
  return { id: name, kind: 'smpp', settings: smppSettingsOf(address, parameters, readFile) }
}

/** Formats a value as it is written in a URL. */
const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? Object.entries(value)
        .map(([key, each]) => `${key}:${String(each)}`)
        .join(';')
    : String(value)

function resolved(field: string, secret: Secret, lookUps: LookUps): string {
  if (typeof secret === 'string') return secret
  if ('environment' in secret) {
    const value = lookUps.variable(secret.environment)
    if (value === undefined) throw new Error(`${field}: the variable ${secret.environment} is not set`)
    return value
  }
  if ('stored' in secret) {
    const value = lookUps.stored(secret.stored)
    if (value === undefined) throw new Error(`${field}: there is no stored secret ${JSON.stringify(secret.stored)}`)
    return value
  }
  try {
    return lookUps.file(secret.file).replace(/\r?\n$/, '')
  } catch (problem) {
    throw new Error(`${field}: ${secret.file} cannot be read`, { cause: problem })
  }
}

const routeOf = ({ name, prefixes = [], accounts = [], senders = [], carriers, overflow }: RouteEntry): Route => ({
  ...{ name, prefixes, accounts, senders },
  carriers: carriers.map(({ carrier, priority = 1, weight = 1 }) => ({ carrier, priority, weight })),
  ...storedOverflow({ overflow: { ...overflowDefaults, ...overflow } }),
})

/**
 * Reads a configuration file. Relative paths in the file are relative to its folder. Throws an Error that names the
 * file and its invalid places, but never a value, because a value may be secret.
 */
export async function readCarriersFile(path: string, variables: Variables): Promise<CarrierConfiguration> {
  const document = parsed(path)
  const lookUps = lookUpsIn(dirname(resolve(path)), variables)
  const read = await readDocument(path, document, lookUps)
  const source = { document, ...lookUps.found }
  return { ...read, file: path, source, unresolved: [...lookUps.unresolved] }
}

function parsed(path: string): unknown {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (problem) {
    return fail(path, [`it cannot be read: ${(problem as NodeJS.ErrnoException).code ?? 'unknown error'}`])
  }
  const document = parseJson(text)
  return 'problem' in document ? fail(path, [document.problem]) : document.value
}

/** Parses JSON. A syntax error is reported by line and column only, because the text may contain a password. */
export function parseJson(text: string): { readonly value: unknown } | { readonly problem: string } {
  const json = text.replace(/^\uFEFF/, '')
  try {
    return { value: JSON.parse(json) as unknown }
  } catch (problem) {
    const at = positionOf((problem as Error).message) ?? firstOdd(json)
    const before = json.slice(0, at).split('\n')
    return { problem: `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: this is not JSON` }
  }
}

/**
 * Returns the position in a syntax error of Node, or undefined: some of these errors contain a piece of the text
 * instead.
 */
function positionOf(message: string): number | undefined {
  const [, digits] = / at position (\d+)/.exec(message) ?? []
  return digits === undefined ? undefined : Number(digits)
}

const token = /\s+|"(?:[^"\\\p{Cc}]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/uy

/** Returns the position of the first character that belongs to no JSON token, or the end of the text. */
function firstOdd(json: string): number {
  token.lastIndex = 0
  let end = 0
  while (end < json.length && token.test(json)) end = token.lastIndex
  return end
}

const WORDS = {
  'too-many-routes': 'there are too many routes',
  'no-route-for-all': 'the last route has conditions: end with one that has no prefixes, accounts and senders',
  'bad-name': 'the name is missing or invalid',
  'same-name': 'another route has the same name',
  'never-reached': 'it is never reached, as every message takes the route',
  'bad-prefix': 'not a number prefix:',
  'no-carriers': 'it has no carrier',
  'too-many-carriers': 'it has too many carriers',
  'unknown-carrier': 'there is no carrier',
  'same-carrier': 'it names the same carrier twice:',
  'bad-priority': 'not a priority:',
  'bad-weight': 'not a weight:',
  'bad-overflow': 'overflow must be a number of seconds from 0 to 86400 or "never":',
} satisfies Record<RouteProblem['problem'], string>

/** Returns the problems that `checkRoutes` finds, each as a sentence with its place in the document. */
export const routeProblems = (routes: readonly Route[], carriers: readonly CarrierId[]): readonly string[] =>
  checkRoutes(routes, carriers).map((found) => {
    const words = WORDS[found.problem]
    if (!('route' in found)) return `/routes: ${words}`
    const at = routes.findIndex(({ name }) => name === found.route)
    return `/routes/${at} (${found.route}): ${words} ${found.value ?? ''}`.trimEnd()
  })

/** Maximum number of problems in one report. */
const problemsMax = 10

const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(carriersSchema)

/**
 * Returns the violations of the schema, each with its place as a JSON pointer; an empty list if the document is valid.
 * The texts contain no value of the document.
 */
export function schemaProblems(document: unknown): readonly string[] {
  if (validate(document)) return []
  const errors = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if' && keyword !== 'propertyNames')
  const all = [...new Set(errors.map((error) => `${error.instancePath || '/'}: ${whatIsWrong(error)}`))]
  return all.length <= problemsMax ? all : [...all.slice(0, problemsMax), `and ${all.length - problemsMax} more`]
}

function whatIsWrong({ keyword, params, message = 'is wrong', schemaPath, propertyName }: ErrorObject): string {
  const { missingProperty, additionalProperty, allowedValues, type } = params as Partial<
    Readonly<Record<string, unknown>>
  >
  if (propertyName !== undefined && schemaPath.includes('/then/')) {
    return `${JSON.stringify(propertyName)} cannot stand beside "url": it belongs into the URL`
  }
  if (propertyName !== undefined) return `${JSON.stringify(propertyName)} is not an error code such as 0x45`
  if (keyword === 'required') return `${JSON.stringify(missingProperty)} is missing`
  if (keyword === 'additionalProperties') return `there is no field ${JSON.stringify(additionalProperty)}`
  if (keyword === 'enum') return `one of ${(allowedValues as readonly unknown[]).join(', ')} is expected`
  if (keyword === 'type') return `${[type].flat().join(' or ')} is expected`
  return message
}

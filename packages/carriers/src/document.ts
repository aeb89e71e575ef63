import { smppSettingsOf } from '@gateway/adapters-smpp'
import type { AccountId, CarrierId, Route, SenderAddress } from '@gateway/core'
import { specificationFromUrl, type CarrierSpecification } from './carrier-specification.ts'
import type { CarrierConfiguration } from './configuration.ts'
import type { LookUps } from './look-ups.ts'
import { routeProblems } from './route-problems.ts'
import { schemaProblems } from './schema-problems.ts'

type Secret = string | { readonly environment: string } | { readonly file: string }
type Fields = Readonly<Record<string, unknown>>

type CarrierEntry = { readonly name: CarrierId } & (
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

interface RouteEntry {
  readonly name: string
  readonly prefixes?: readonly string[]
  readonly accounts?: readonly AccountId[]
  readonly senders?: readonly SenderAddress[]
  readonly carriers: readonly { readonly carrier: CarrierId; readonly priority?: number; readonly weight?: number }[]
}

interface Document {
  readonly carriers: readonly CarrierEntry[]
  readonly routes?: readonly RouteEntry[]
}

/** What a document means. Throws an Error, which names `what` and the places that are wrong, never a value that may be secret. */
export function readDocument(
  what: string,
  given: unknown,
  lookUps: LookUps,
): Pick<CarrierConfiguration, 'carriers' | 'routes'> {
  const wrong = schemaProblems(given)
  if (wrong.length > 0) return fail(what, wrong)
  const document = given as Document
  const carriers: CarrierSpecification[] = []
  const problems: string[] = []
  for (const [at, entry] of document.carriers.entries()) {
    try {
      if (document.carriers.findIndex(({ name }) => name === entry.name) < at)
        throw new Error('the name is given twice')
      carriers.push(specificationOf(entry, lookUps))
    } catch (problem) {
      problems.push(`/carriers/${at} (${entry.name}): ${(problem as Error).message}`)
    }
  }
  const routes = document.routes?.map(routeOf) ?? []
  const names = document.carriers.map(({ name }) => name)
  problems.push(...routeProblems(routes, names))
  return problems.length > 0 ? fail(what, problems) : { carriers, routes }
}

export function fail(what: string, problems: readonly string[]): never {
  throw new Error(`${what} cannot be used:\n${problems.map((each) => `  ${each}`).join('\n')}`)
}

function specificationOf(entry: CarrierEntry, lookUps: LookUps): CarrierSpecification {
  const readFile = (path: string): string => lookUps.file(path)
  if (entry.url !== undefined) {
    return specificationFromUrl(entry.name, resolved('url', entry.url, lookUps), readFile)
  }
  const { name, host, port, tls = false, systemId, password, ...rest } = entry
  const address = {
    ...{ host, port, isTls: tls },
    systemId: resolved('systemId', systemId, lookUps),
    password: resolved('password', password, lookUps),
  }
  const parameters = Object.entries(rest).map(([key, value]): [string, string] => [key, textOf(value)])
  return { id: name, kind: 'smpp', settings: smppSettingsOf(address, parameters, readFile) }
}

/** As it is written in a URL. */
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
  try {
    return lookUps.file(secret.file).replace(/\r?\n$/, '')
  } catch (problem) {
    throw new Error(`${field}: ${secret.file} cannot be read`, { cause: problem })
  }
}

const routeOf = ({ name, prefixes = [], accounts = [], senders = [], carriers }: RouteEntry): Route => ({
  ...{ name, prefixes, accounts, senders },
  carriers: carriers.map(({ carrier, priority = 1, weight = 1 }) => ({ carrier, priority, weight })),
})

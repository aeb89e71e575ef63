import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { smppSettingsOf } from '@gateway/adapters-smpp'
import type { AccountId, CarrierId, Route, SenderAddress } from '@gateway/core'
import { specificationFromUrl, type CarrierSpecification } from './carrier-specification.ts'
import { parseJson } from './parse-json.ts'
import type { CarrierConfiguration, Variables } from './configuration.ts'
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

/** Where secrets and the paths of a file are looked up. */
interface Around {
  readonly folder: string
  readonly variables: Variables
}

/**
 * The configuration in a file. Relative paths in it begin at its folder. Throws an Error that names the file and the places in it that are
 * wrong, never a value that may be secret.
 */
export function readCarriersFile(path: string, variables: Variables): CarrierConfiguration {
  const fail = (problems: readonly string[]): never => {
    throw new Error(`${path} cannot be used:\n${problems.map((each) => `  ${each}`).join('\n')}`)
  }
  const document = parsed(path, fail)
  const carriers: CarrierSpecification[] = []
  const problems: string[] = []
  const around = { folder: dirname(resolve(path)), variables }
  for (const [at, entry] of document.carriers.entries()) {
    try {
      if (document.carriers.findIndex(({ name }) => name === entry.name) < at)
        throw new Error('the name is given twice')
      carriers.push(specificationOf(entry, around))
    } catch (problem) {
      problems.push(`/carriers/${at} (${entry.name}): ${(problem as Error).message}`)
    }
  }
  const routes = document.routes?.map(routeOf) ?? []
  const names = document.carriers.map(({ name }) => name)
  problems.push(...routeProblems(routes, names))
  return problems.length > 0 ? fail(problems) : { carriers, routes, file: path }
}

function parsed(path: string, fail: (problems: readonly string[]) => never): Document {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (problem) {
    return fail([`it cannot be read: ${(problem as NodeJS.ErrnoException).code ?? 'unknown error'}`])
  }
  const document = parseJson(text)
  if ('problem' in document) return fail([document.problem])
  const problems = schemaProblems(document.value)
  return problems.length > 0 ? fail(problems) : (document.value as Document)
}

function specificationOf(entry: CarrierEntry, around: Around): CarrierSpecification {
  if (entry.url !== undefined) {
    return specificationFromUrl(entry.name, resolved('url', entry.url, around), around.folder)
  }
  const { name, host, port, tls = false, systemId, password, ...rest } = entry
  const address = {
    ...{ host, port, isTls: tls },
    systemId: resolved('systemId', systemId, around),
    password: resolved('password', password, around),
  }
  const parameters = Object.entries(rest).map(([key, value]): [string, string] => [key, textOf(value)])
  return { id: name, kind: 'smpp', settings: smppSettingsOf(address, parameters, around.folder) }
}

/** As it is written in a URL. */
const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? Object.entries(value)
        .map(([key, each]) => `${key}:${String(each)}`)
        .join(';')
    : String(value)

function resolved(field: string, secret: Secret, { folder, variables }: Around): string {
  if (typeof secret === 'string') return secret
  if ('environment' in secret) {
    const value = variables[secret.environment]
    if (value === undefined || value === '') throw new Error(`${field}: the variable ${secret.environment} is not set`)
    return value
  }
  try {
    return readFileSync(resolve(folder, secret.file), 'utf8').replace(/\r?\n$/, '')
  } catch (problem) {
    throw new Error(`${field}: ${secret.file} cannot be read`, { cause: problem })
  }
}

const routeOf = ({ name, prefixes = [], accounts = [], senders = [], carriers }: RouteEntry): Route => ({
  ...{ name, prefixes, accounts, senders },
  carriers: carriers.map(({ carrier, priority = 1, weight = 1 }) => ({ carrier, priority, weight })),
})

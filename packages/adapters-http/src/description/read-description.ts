import type { ErrorObject } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { listOf } from './json.ts'
import { compileProvider, isSecret, type Provider } from './provider.ts'
import { descriptionSchema, type HttpDescription } from './schema.ts'
import { placeholdersIn, visitTexts } from './template.ts'

/** Errors in a description, each as a JSON pointer with the problem. They contain no values of the description. */
export interface DescriptionProblems {
  readonly problems: readonly string[]
}

/** Values that a placeholder of a request can name, besides `secret.…`. */
export const placeholderNames: ReadonlySet<string> = new Set([
  ...['to', 'from', 'text', 'alphabet', 'parts', 'ownId', 'ownNumber', 'callback'],
  ...['validSeconds', 'validMinutes', 'validMilliseconds', 'flash', 'priority', 'category'],
])

/** Placeholders that always have a value. Only these may occur in a URL and its path. */
const alwaysPresent: ReadonlySet<string> = new Set(['to', 'text', 'alphabet', 'parts', 'ownId', 'ownNumber'])
/** Placeholders whose values are printable ASCII. Only these may occur in headers. */
const inHeaders: ReadonlySet<string> = new Set(['to', 'alphabet', 'parts', 'ownId', 'ownNumber'])

const problemsMax = 10

const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(descriptionSchema)

/** Checks a description, and prepares it. Names every field that is wrong. */
export function readDescription(value: unknown): Provider | DescriptionProblems {
  if (!validate(value)) return bounded((validate.errors ?? []).map(problemText))
  const description = value as HttpDescription
  const problems = [
    ...bodyProblems(description),
    ...ruleProblems(description),
    ...placeholderProblems(description),
    ...signatureProblems(description),
  ]
  const provider = compileProvider(description, (problem) => void problems.push(problem))
  problems.push(...secretProblems(description, new Set([...provider.sendSecrets, ...provider.callbackSecrets])))
  return problems.length > 0 ? bounded(problems) : provider
}

export const isUsable = (read: Provider | DescriptionProblems): read is Provider => 'description' in read

const bounded = (all: readonly string[]): DescriptionProblems => {
  const problems = [...new Set(all)]
  if (problems.length <= problemsMax) return { problems }
  return { problems: [...problems.slice(0, problemsMax), `and ${problems.length - problemsMax} more`] }
}

function problemText({ instancePath, keyword, params, message = 'is wrong' }: ErrorObject): string {
  const at = instancePath || '/'
  const { missingProperty, additionalProperty, allowedValues, type } = params as Partial<Record<string, unknown>>
  if (keyword === 'required') return `${at}: ${JSON.stringify(missingProperty)} is missing`
  if (keyword === 'additionalProperties') return `${at}: there is no field ${JSON.stringify(additionalProperty)}`
  if (keyword === 'enum') return `${at}: one of ${(allowedValues as readonly unknown[]).join(', ')} is expected`
  if (keyword === 'type') return `${at}: ${[type].flat().join(' or ')} is expected`
  return `${at}: ${message}`
}

function bodyProblems({ send }: HttpDescription): readonly string[] {
  if (send.form !== undefined && send.json !== undefined) return ['/send: form and json exclude each other']
  if (send.method === 'GET' && (send.form ?? send.json) !== undefined) return ['/send: a GET request has no body']
  return []
}

function ruleProblems({ answer }: HttpDescription): readonly string[] {
  return answer.rules.flatMap((rule, index) => {
    const at = `/answer/rules/${index}`
    if (rule.at !== undefined && rule.header !== undefined) return [`${at}: at and header exclude each other`]
    const isEmpty = rule.in !== undefined && rule.at === undefined && rule.header === undefined
    return isEmpty ? [`${at}/in: at or header is missing beside it`] : []
  })
}

/** Finds unknown placeholders, and placeholders whose value may be missing or unsafe in their place. */
function placeholderProblems({ send, callbacks }: HttpDescription): readonly string[] {
  const problems: string[] = []
  const check = (place: unknown, at: string, isAllowed: (name: string) => boolean, reason: string): void =>
    visitTexts(place, at, (text, where) => {
      for (const name of placeholdersIn(text)) {
        if (isSecret(name)) continue
        if (!placeholderNames.has(name)) problems.push(`${where}: there is no placeholder {${name}}`)
        else if (!isAllowed(name)) problems.push(`${where}: {${name}} ${reason}`)
      }
    })
  const isAlways = (name: string) => alwaysPresent.has(name)
  check(send.url, '/send/url', isAlways, 'may be missing, and stands in no URL')
  if (/^https?:\/\/[^/]*\{/.test(send.url)) problems.push('/send/url: the host has no placeholders')
  check(send.headers, '/send/headers', (name) => inHeaders.has(name), 'stands in no header')
  check(send.basic, '/send/basic', () => false, 'stands in no password')
  for (const part of ['query', 'form', 'json'] as const) check(send[part], `/send/${part}`, () => true, '')
  check(callbacks?.signature.key, '/callbacks/signature/key', () => false, 'stands in no key')
  return problems
}

function secretProblems({ secrets }: HttpDescription, used: ReadonlySet<string>): readonly string[] {
  if (secrets === undefined) return []
  const missing = [...used].filter((name) => name !== 'path' && !Object.hasOwn(secrets, name))
  const unused = Object.keys(secrets).filter((name) => !used.has(name))
  return [
    ...missing.map((name) => `/secrets: ${JSON.stringify(name)} is missing`),
    ...unused.map((name) => `/secrets/${name}: no placeholder names it`),
  ]
}

/** Returns a problem for each field that the algorithm of the signature needs and that is missing or malformed. */
function signatureProblems({ callbacks }: HttpDescription): readonly string[] {
  if (callbacks === undefined) return []
  const { signature } = callbacks
  const { algorithm, key, over, at } = signature
  const at0 = '/callbacks/signature'
  const missing = (fields: Readonly<Record<string, unknown>>): readonly string[] =>
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [`${at0}: ${algorithm} needs ${JSON.stringify(name)}`] : [],
    )
  if (algorithm === 'path') return []
  if (algorithm === 'basic') {
    return listOf(key).length === 2 ? [] : [`${at0}/key: a list of user and password is expected`]
  }
  const single = Array.isArray(key) ? [`${at0}/key: one key is expected`] : []
  if (algorithm === 'jwt') return [...single, ...missing({ key, at, claims: signature.claims })]
  return [...single, ...missing({ key, over, at })]
}

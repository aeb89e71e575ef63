import type { OutgoingHttpHeaders } from 'node:http'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { statusOf, type ErrorCode } from '../src/error-codes.ts'
import { openApiDocument } from '../src/openapi.ts'

interface Response {
  readonly $ref?: string
  readonly headers?: Readonly<Record<string, { readonly required: boolean }>>
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Record<string, Response> }>>>>
  readonly components: { readonly responses: Readonly<Record<string, Response>> }
}

const document = closed(openApiDocument()) as OpenApi
const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(document, 'document')
const validators = new Map<string, ValidateFunction>()
const headerNames = ['Allow', 'WWW-Authenticate', 'Retry-After']

export interface Answered {
  readonly method: string
  /** Path of the request, which may have a prefix before the path of the document. */
  readonly path: string
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly body: string
}

/** Returns how a response differs from the OpenAPI document, or undefined if the document describes it. */
export function complaint({ method, path, status, headers, body }: Answered): string | undefined {
  const found = isMalformed(body)
    ? { at: '/components/responses/Malformed', response: document.components.responses['Malformed'] ?? {} }
    : responseOf(method, path, status)
  if (found === undefined) return `the status ${status} is not in the document`
  for (const name of headerNames) {
    const value = found.response.headers?.[name]
    const isThere = headers[name.toLowerCase()] !== undefined
    if (isThere && value === undefined) return `${name} is not in the document`
    if (!isThere && value?.required === true) return `${name} is missing`
  }
  if (method === 'HEAD') return body === '' ? undefined : 'there is a body'
  const parsed = JSON.parse(body) as { readonly statusCode?: unknown; readonly errorCode?: ErrorCode }
  const validate = validatorOf(`document#${found.at}/content/application~1json/schema`)
  if (!validate(parsed)) return ajv.errorsText(validate.errors)
  if (parsed.statusCode !== status) return 'statusCode is not the status'
  return parsed.errorCode === undefined || statusOf(parsed.errorCode) === status
    ? undefined
    : 'errorCode is one of another status'
}

/** True for a response of the HTTP layer, which can occur on any path. */
const isMalformed = (body: string): boolean => beforeInterface.some((code) => body.includes(`"errorCode":"${code}"`))
const beforeInterface = [
  'malformed-request',
  'request-timeout',
  'chunk-extensions-too-long',
  'expectation-failed',
  'headers-too-large',
] as const satisfies readonly ErrorCode[]

/**
 * Returns the described response of an operation. A path without an operation can only be answered 404, and a wrong
 * method is answered as on any path.
 */
function responseOf(
  requested: string,
  path: string,
  status: number,
): { readonly at: string; readonly response: Response } | undefined {
  const general = path.replace(/\/[1-9][0-9]*(?=\/|$)/, '/{id}')
  const known = Object.keys(document.paths)
    .filter((each) => general.endsWith(each))
    .sort((a, b) => b.length - a.length)[0]
  const methods = document.paths[known ?? ''] ?? {}
  const method = requested.toLowerCase() in methods ? requested.toLowerCase() : (Object.keys(methods)[0] ?? '')
  const own = methods[method]?.responses[status]
  const name = status === 404 ? 'NotFound' : own?.$ref?.split('/').at(-1)
  const shared = document.components.responses[name ?? '']
  if (shared !== undefined) return { at: `/components/responses/${name}`, response: shared }
  if (own === undefined || known === undefined) return undefined
  const escaped = known.replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')
  return { at: `/paths/${escaped}/${method}/responses/${status}`, response: own }
}

function validatorOf(at: string): ValidateFunction {
  const validate = validators.get(at) ?? ajv.compile({ $ref: at })
  validators.set(at, validate)
  return validate
}

/** Returns the schema with additional properties forbidden in all objects. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const copied = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, closed(each)]))
  return copied['type'] === 'object' ? { additionalProperties: false, ...copied } : copied
}

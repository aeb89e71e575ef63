import { keyCharactersMax } from '@gateway/core/client-requests'
import type { ReplayId, WebhookId } from '@gateway/core/webhooks'
import { Type } from 'typebox'
import { failure, type Failure, isFailure, overLimit, overloaded, unknownError } from './answer.ts'
import { missingKey, noJson, noSuchPath, tooLarge, wrongMethod, wrongType } from './endpoint.ts'
import { replayRuns } from './endpoints/webhooks/replay.ts'
import { errorCodes, statusOf } from './error-codes.ts'
import { answerObject, type Endpoint, type Example, Stamp, TAGS, WebhookNumber } from './operation.ts'
import { endpoints, prefix } from './routes.ts'
import { published } from './schema.ts'
import { webhookRequests } from './webhook-events.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * Returns the OpenAPI 3.1 document of the interface, to be served one folder below the root. Its request schemas also
 * validate requests, and the tests check responses against its response schemas. A request example produces the
 * response example of the same name.
 */
export function openApiDocument(): Json {
  const schemas = new Map<string, unknown>()
  const paths = [...endpoints].map(([path, ofPath]) => {
    const methods = ofPath.map((each) => [each.method.toLowerCase(), described(each, path)] as const)
    return [path, Object.fromEntries(methods)] as const
  })
  const responses = [...errors, malformed].map((error) => [error.name, errorResponse(error)] as const)
  return {
    openapi: '3.1.1',
    info: {
      title: 'SMS gateway: REST interface',
      version: '1.0',
      description:
        'Send messages, query their status, read replies, and receive both by webhook. Paths are case-sensitive. A path that does not exist is answered ' +
        'with 404, in the envelope. After a 503 with `Retry-After` nothing was done; after a 500, or a 503 without it, the work may have been done.',
      contact: { name: 'The operator of the gateway' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      { url: prefix, description: 'The gateway that serves this document.' },
      {
        url: `{gateway}${prefix}`,
        description: 'A gateway at this address, without a path.',
        variables: { gateway: { default: 'http://127.0.0.1:8080' } },
      },
    ],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ key: [] }],
    webhooks: withReferences(webhookRequests, schemas),
    paths: withReferences(Object.fromEntries(paths), schemas),
    components: {
      responses: withReferences(Object.fromEntries(responses), schemas),
      schemas: Object.fromEntries(schemas),
      securitySchemes: {
        key: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'An API key, alone or after one prefix word, such as Bearer.',
        },
      },
    },
  }
}

/**
 * Moves each schema with a title to the shared schemas and puts a reference in its place. Internal keywords are
 * removed.
 */
const withReferences = (value: unknown, shared: Map<string, unknown>): unknown => referring(published(value), shared)

function referring(value: unknown, shared: Map<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((each) => referring(each, shared))
  if (typeof value !== 'object' || value === null) return value
  const copied = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, referring(each, shared)]))
  const { title, ...schema } = copied
  if (typeof title !== 'string') return copied
  shared.set(title, schema)
  return { $ref: `#/components/schemas/${title}` }
}

function described(endpoint: Endpoint, path: string): Json {
  const { id, tag, summary, description, query = {}, body, repeatable = false, answer, examples } = endpoint.operation
  const inQuery = Object.entries(query).map(([name, schema]) => ({
    name,
    in: 'query',
    description: (schema as { readonly description?: string }).description,
    schema,
    examples: examplesOf(examples, ({ query: parameters, answer }) =>
      isFailure(answer) ? undefined : parameters?.[name],
    ),
  }))
  const idInPath = {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The id of a webhook of the account.',
    schema: WebhookNumber,
    examples: examplesOf(examples, ({ id, answer }) => (isFailure(answer) ? undefined : id)),
  }
  const parameters = hasParameter(path) ? [idInPath, ...inQuery] : inQuery
  const answers = answerObject(`${id.charAt(0).toUpperCase()}${id.slice(1)}Answer`, {
    ...envelope,
    statusCode: Type.Literal(200, { type: 'integer', description: 'The HTTP status.' }),
    ...answer,
  })
  const inEnvelope = (example: Example) =>
    isFailure(example.answer) ? undefined : { ...envelopeExample, statusCode: 200, ...example.answer }
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    parameters: repeatable ? [...parameters, idempotencyKey] : parameters,
    ...(body && {
      requestBody: {
        required: endpoint.whenEmpty === undefined,
        content: json(
          body,
          examplesOf(examples, (example) => (isFailure(example.answer) ? undefined : example.body)),
        ),
      },
    }),
    responses: {
      200: {
        description: 'Done, or refused as the response states.',
        content: json(answers, examplesOf(examples, inEnvelope)),
      },
      ...Object.fromEntries(
        errors
          .filter(({ of }) => of(endpoint, path))
          .map((error) => [statusOf(error.failure.code), errorOf(error, examples)]),
      ),
      default: { $ref: `#/components/responses/${malformed.name}` },
    },
  }
}

type Examples = Readonly<Record<string, Example>>

const examplesOf = (examples: Examples, value: (example: Example) => unknown): Json =>
  Object.fromEntries(
    Object.entries(examples).flatMap(([name, example]) => {
      const found = value(example)
      return found === undefined ? [] : [[name, { value: found }]]
    }),
  )

const json = (schema: unknown, examples: Json): Json => ({ 'application/json': { schema, examples } })

const envelope = {
  timeStamp: Stamp,
  version: Type.Literal('1.0', { description: 'The version of the interface.' }),
}
const envelopeExample = { timeStamp: '20261018100000000', version: '1.0' }

const errorAnswer = answerObject('Error', {
  ...envelope,
  statusCode: Type.Integer({ description: 'The HTTP status.' }),
  errorMessage: Type.String({ description: 'The cause as a sentence for people. The wording may change.' }),
  errorCode: Type.Enum([...errorCodes], {
    type: 'string',
    description:
      'The cause as a word for programs, which never changes its meaning. docs/interfaces/rest.md lists the cause and remedy of each.',
  }),
})

interface ErrorOfDocument {
  readonly name: string
  readonly description: string
  /** Example failure. All failures of this entry have the same headers. */
  readonly failure: Failure
  readonly of: (endpoint: Endpoint, path: string) => boolean
}

const every = (): boolean => true
const hasParameter = (path: string): boolean => path.includes('{id}')
const hasBody = ({ operation }: Endpoint): boolean => operation.body !== undefined

/** Errors in order of precedence (ruling 2.3), followed by internal failures (ruling 1.25). */
const errors: readonly ErrorOfDocument[] = [
  {
    name: 'NotFound',
    description: 'The path does not exist, or the account has no webhook with this id.',
    failure: noSuchPath,
    of: (_endpoint, path) => hasParameter(path),
  },
  {
    name: 'MethodNotAllowed',
    description: 'The path requires another method. HEAD and OPTIONS are not supported.',
    failure: wrongMethod(['GET'], 'PUT'),
    of: every,
  },
  {
    name: 'Unauthorized',
    description: 'The key is missing, wrong, expired or revoked.',
    failure: missingKey,
    of: every,
  },
  {
    name: 'ReplayRuns',
    description: 'A replay of the account is running; the message has its number. Nothing was done.',
    failure: replayRuns({ id: 1 as ReplayId, webhook: 1 as WebhookId }),
    of: ({ operation }) => operation.id === 'replayEvents',
  },
  { name: 'BodyTooLarge', description: 'The body has more than 204800 bytes.', failure: tooLarge, of: hasBody },
  {
    name: 'UnsupportedMediaType',
    description: 'The content type is not `application/json`, or the body is compressed.',
    failure: wrongType('text/plain'),
    of: hasBody,
  },
  { name: 'NoJson', description: 'The body is not valid JSON, or not UTF-8.', failure: noJson, of: hasBody },
  {
    name: 'Unprocessable',
    description:
      'The content is wrong: nothing was done. The message names the field, the expected and the received value.',
    failure: failure('field-missing', 'message is missing.'),
    of: ({ operation }) => operation.body !== undefined || operation.query !== undefined,
  },
  {
    name: 'TooManyRequests',
    description: 'The account exceeds its limit of requests or recipients per second: nothing was done.',
    failure: overLimit({ overLimitSeconds: 1 }),
    of: every,
  },
  {
    name: 'UnknownError',
    description: 'An internal error. The work may have been done.',
    failure: unknownError,
    of: every,
  },
  {
    name: 'Unavailable',
    description: 'An internal error or overload. With `Retry-After` nothing was done.',
    failure: overloaded,
    of: every,
  },
]

/** Errors of the HTTP layer, which can occur on any path. */
const malformed: ErrorOfDocument = {
  name: 'Malformed',
  description: 'The request is not valid HTTP (400, 408, 413, 417, 431): nothing was done.',
  failure: failure('malformed-request', 'The request has no Host header.'),
  of: every,
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Identifies the request: for 48 hours, a repeated request with the same key is carried out once and gets the first response.',
  schema: { type: 'string', minLength: 1, maxLength: keyCharactersMax },
}

/**
 * Returns an error response of an operation: a reference to the shared one, unless the operation has examples of its
 * own.
 */
function errorOf(error: ErrorOfDocument, examples: Examples): Json {
  const status = statusOf(error.failure.code)
  const own = Object.fromEntries(
    Object.entries(examples).flatMap(([name, { answer, ...sent }]) =>
      isFailure(answer) && statusOf(answer.code) === status
        ? [[name, { description: whatWasSent(sent), value: failed(answer) }]]
        : [],
    ),
  )
  return Object.keys(own).length > 0 ? errorResponse(error, own) : { $ref: `#/components/responses/${error.name}` }
}

/**
 * Describes an invalid request next to its response. Tools would treat it as valid if it were among the request
 * examples.
 */
const whatWasSent = ({ query, body }: Omit<Example, 'answer'>): string =>
  query === undefined
    ? `The response to the body \`${JSON.stringify(body)}\`.`
    : `The response to the query \`${Object.entries(query)
        .map(([name, value]) => `${name}=${value}`)
        .join('&')}\`.`

const errorResponse = (
  { description, failure: example }: ErrorOfDocument,
  examples: Json = { error: { value: failed(example) } },
): Json => ({ description, headers: headersOf(example), content: json(errorAnswer, examples) })

const failed = ({ code, errorMessage }: Failure): Json => ({
  ...envelopeExample,
  statusCode: statusOf(code),
  errorMessage,
  errorCode: code,
})

const HEADER: Json = {
  Allow: { description: 'The methods of the path.', schema: { type: 'string' } },
  'WWW-Authenticate': { description: 'How to send a key.', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds after which the same request may be repeated.', schema: { type: 'integer' } },
}

/** A 503 has `Retry-After` only if nothing was done. */
const headersOf = ({ code, headers }: Failure): Json =>
  Object.fromEntries(
    Object.keys(headers).map((name) => [name, { required: statusOf(code) !== 503, ...(HEADER[name] as Json) }]),
  )

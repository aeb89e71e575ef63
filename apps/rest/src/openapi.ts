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
 * The OpenAPI 3.1 document of the interface, to be served one folder below the root: the schemas that requests are read
 * by, and those that the tests check answers by. An example of a request is answered as the example of the same name
 * under its status says.
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
        'Send messages, ask what became of them, read replies, and have both pushed to webhooks. Letter case of paths counts. A path that does not exist is answered ' +
        '404, with the envelope. A 503 with `Retry-After` has done nothing; a 500 or 503 without it may have done the work.',
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
 * Puts each schema that has a title among the shared ones, and a reference in its place; what only we read is left out.
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
    examples: examplesOf(examples, ({ query: given, answer }) => (isFailure(answer) ? undefined : given?.[name])),
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
        description: 'Done, or refused as the answer says.',
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
  errorMessage: Type.String({ description: 'The cause in words, for people. Its wording may change.' }),
  errorCode: Type.Enum([...errorCodes], {
    type: 'string',
    description:
      'The cause, for programs: a word that never changes its meaning. docs/interfaces/rest.md has cause and remedy of each.',
  }),
})

interface ErrorOfDocument {
  readonly name: string
  readonly description: string
  /** One of them, whose headers the others have too. */
  readonly failure: Failure
  readonly of: (endpoint: Endpoint, path: string) => boolean
}

const every = (): boolean => true
const hasParameter = (path: string): boolean => path.includes('{id}')
const hasBody = ({ operation }: Endpoint): boolean => operation.body !== undefined

/** In the order in which they win (ruling 2.3), then our own trouble (ruling 1.25). */
const errors: readonly ErrorOfDocument[] = [
  {
    name: 'NotFound',
    description: 'No such path, or the account has no webhook with this id.',
    failure: noSuchPath,
    of: (_endpoint, path) => hasParameter(path),
  },
  {
    name: 'MethodNotAllowed',
    description: 'The path requires another method; HEAD and OPTIONS are none.',
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
    description: 'A replay of the account runs; the message has its number. Nothing was done.',
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
    description: 'The content is wrong: nothing was done. The message names what, what is expected and what came.',
    failure: failure('field-missing', 'message is missing.'),
    of: ({ operation }) => operation.body !== undefined || operation.query !== undefined,
  },
  {
    name: 'TooManyRequests',
    description: 'More requests or recipients a second than the operator lets the account have: nothing was done.',
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

/** What is answered on any path by what stands before the interface. */
const malformed: ErrorOfDocument = {
  name: 'Malformed',
  description: 'The request is no valid HTTP (400, 408, 413, 417, 431): nothing was done.',
  failure: failure('malformed-request', 'The request has no Host header.'),
  of: every,
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Names the request: for 48 hours the same request with the same key is done once and has the first answer.',
  schema: { type: 'string', minLength: 1, maxLength: keyCharactersMax },
}

/** An error of an operation: shared, unless it has examples of its own. */
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

/** Wrong requests are told of beside their answers, where no tool takes them for right ones. */
const whatWasSent = ({ query, body }: Omit<Example, 'answer'>): string =>
  query === undefined
    ? `The answer to the body \`${JSON.stringify(body)}\`.`
    : `The answer to the query \`${Object.entries(query)
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
  'WWW-Authenticate': { description: 'How to give a key.', schema: { type: 'string' } },
  'Retry-After': { description: 'After so many seconds the same request may come again.', schema: { type: 'integer' } },
}

/** A 503 has `Retry-After` only if nothing was done. */
const headersOf = ({ code, headers }: Failure): Json =>
  Object.fromEntries(
    Object.keys(headers).map((name) => [name, { required: statusOf(code) !== 503, ...(HEADER[name] as Json) }]),
  )

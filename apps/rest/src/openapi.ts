import { keyCharactersMax } from '@gateway/core'
import { Type } from 'typebox'
import { failure, overloaded, tooManyLogIns, unknownError, type Failure } from './answer.ts'
import { missingKey, noJson, noSuchPath, wrongMethod, type Endpoint } from './endpoint.ts'
import { answerObject, WebhookNumber, type Example } from './operation.ts'
import { tooLarge, wrongType } from './request.ts'
import { endpoints, prefix } from './routes.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * The OpenAPI 3.1 document of the interface, to be served one folder below the root: the schemas that requests are read by, and those
 * that the tests check answers by. An example of a request is answered as the example of the same name under its status says.
 */
export function openApiDocument(): Json {
  const schemas = new Map<string, unknown>()
  const paths = [...endpoints].map(([path, ofPath]) => {
    const methods = ofPath.map((each) => [each.method.toLowerCase(), described(each, path)] as const)
    return [path, Object.fromEntries(methods)] as const
  })
  const responses = errors.map((error) => [error.name, errorResponse(error)] as const)
  return {
    openapi: '3.1.1',
    info: {
      title: 'SMS gateway: REST interface',
      version: '1.0',
      description:
        'Send messages, ask what became of them, read replies, and have both pushed to webhooks. Letter case of paths counts. A path that does not exist is answered ' +
        '404, with the envelope. A 503 with `Retry-After` has done nothing; a 500 or 503 without it may have done the work.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: `..${prefix}` }],
    security: [{ key: [] }],
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

/** Puts each schema that has a title among the shared ones, and a reference in its place. */
function withReferences(value: unknown, shared: Map<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((each) => withReferences(each, shared))
  if (typeof value !== 'object' || value === null) return value
  const copied = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withReferences(each, shared)]))
  const { title, ...schema } = copied
  if (typeof title !== 'string') return copied
  shared.set(title, schema)
  return { $ref: `#/components/schemas/${title}` }
}

function described(endpoint: Endpoint, path: string): Json {
  const { id, summary, description, query = {}, body, repeatable = false, answer, examples } = endpoint.operation
  const inQuery = Object.entries(query).map(([name, schema]) => ({
    name,
    in: 'query',
    schema,
    examples: examplesOf(examples, ({ query: given }) => given?.[name]),
  }))
  const idInPath = {
    name: 'id',
    in: 'path',
    required: true,
    schema: WebhookNumber,
    examples: examplesOf(examples, (example) => example.id),
  }
  const parameters = hasParameter(path) ? [idInPath, ...inQuery] : inQuery
  const answers = answerObject(`${id.charAt(0).toUpperCase()}${id.slice(1)}Answer`, {
    ...envelope,
    statusCode: Type.Literal(200),
    ...answer,
  })
  const inEnvelope = (example: Example) =>
    typeof example.answer === 'string' ? undefined : { ...envelopeExample, statusCode: 200, ...example.answer }
  return {
    operationId: id,
    summary,
    description,
    parameters: repeatable ? [...parameters, idempotencyKey] : parameters,
    ...(body && {
      requestBody: {
        required: endpoint.whenEmpty === undefined,
        content: json(
          body,
          examplesOf(examples, (example) => example.body),
        ),
      },
    }),
    responses: {
      200: {
        description: 'Done, or refused as the answer says.',
        content: json(answers, examplesOf(examples, inEnvelope)),
      },
      ...Object.fromEntries(
        errors.filter(({ of }) => of(endpoint, path)).map((error) => [error.failure.status, errorOf(error, examples)]),
      ),
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
  timeStamp: Type.String({ description: 'YYYYMMDDhhmmssSSS at GMT+2.', pattern: '^[0-9]{17}$' }),
  version: Type.Literal('1.0'),
}
const envelopeExample = { timeStamp: '20261018100000000', version: '1.0' }

const errorAnswer = answerObject('Error', {
  ...envelope,
  statusCode: Type.Integer({ description: 'The HTTP status.' }),
  errorMessage: Type.String({ description: 'The cause in words.' }),
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
    failure: failure(422, 'message is missing.'),
    of: ({ operation }) => operation.body !== undefined || operation.query !== undefined,
  },
  { name: 'TooManyLogIns', description: 'Too many failed log-ins.', failure: tooManyLogIns(60), of: every },
  {
    name: 'UnknownError',
    description: 'An internal error. The work may have been done.',
    failure: unknownError,
    of: every,
  },
  {
    name: 'Unavailable',
    description:
      'An internal error, overload, or more than the limit of the account. With `Retry-After` nothing was done.',
    failure: overloaded,
    of: every,
  },
]

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Names the request: for 48 hours the same request with the same key is done once and has the first answer.',
  schema: { type: 'string', minLength: 1, maxLength: keyCharactersMax },
}

/** An error of an operation: shared, unless it has examples of its own. */
function errorOf(error: ErrorOfDocument, examples: Examples): Json {
  const own = examplesOf(examples, ({ answer }) =>
    typeof answer === 'string' ? failed({ status: 422, errorMessage: answer }) : undefined,
  )
  return error.failure.status === 422 && Object.keys(own).length > 0
    ? errorResponse(error, own)
    : { $ref: `#/components/responses/${error.name}` }
}

const errorResponse = (
  { description, failure: example }: ErrorOfDocument,
  examples: Json = { error: { value: failed(example) } },
): Json => ({ description, headers: headersOf(example), content: json(errorAnswer, examples) })

const failed = ({ status, errorMessage }: Pick<Failure, 'status' | 'errorMessage'>): Json => ({
  ...envelopeExample,
  statusCode: status,
  errorMessage,
})

const HEADER: Json = {
  Allow: { description: 'The methods of the path.', schema: { type: 'string' } },
  'WWW-Authenticate': { description: 'How to give a key.', schema: { type: 'string' } },
  'Retry-After': { description: 'After so many seconds the same request may come again.', schema: { type: 'integer' } },
}

/** A 503 has `Retry-After` only if nothing was done. */
const headersOf = ({ status, headers }: Failure): Json =>
  Object.fromEntries(
    Object.keys(headers).map((name) => [name, { required: status !== 503, ...(HEADER[name] as Json) }]),
  )

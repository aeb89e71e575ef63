import type { Gateway } from '@gateway/core'
import type { Account } from '@gateway/core/accounts'
import type { Instant } from '@gateway/core/time'
import { webhookIdMax } from '@gateway/core/webhooks'
import type { ParsedBody } from '@gateway/server'
import { type TProperties, type TSchema, Type } from 'typebox'
import { type Answer, type Failure, isFailure } from './answer.ts'

/** Groups of operations, in the order of the document. */
export const TAGS = {
  Sending: 'Messages to mobile numbers, at once or scheduled, and their status.',
  Scheduled: 'Scheduled messages that can still be deleted.',
  Incoming: 'Replies, messages to short codes, and opt-outs. Reading consumes nothing.',
  Credits: 'The balance, transfers, and the accounts of a family.',
  Webhooks: 'URLs to which events are pushed, as an alternative to polling.',
} as const
export type Tag = keyof typeof TAGS

/**
 * Description of an operation in the OpenAPI document, apart from its path and method. Schemas with a title are shared
 * under that name.
 */
export interface Operation {
  /** Name of the operation in the specification and in generated clients. */
  readonly id: string
  readonly summary: string
  readonly description: string
  readonly tag: Tag
  /** Query parameters of a GET. */
  readonly query?: TProperties
  /** Body of a POST or a PATCH. */
  readonly body?: TSchema
  /** True if a client may repeat the operation under one `Idempotency-Key` (ruling 1.24). */
  readonly repeatable?: boolean
  /** Fields of a successful response after the envelope. */
  readonly answer: TProperties
  /** Examples by name. The tests send each request and compare the response. */
  readonly examples: Readonly<Record<string, Example>>
}

export interface Example {
  /** Value of `{id}` in the path. */
  readonly id?: number
  readonly query?: Readonly<Record<string, string | number>>
  readonly body?: unknown
  /** Expected result: the fields after the envelope if the request succeeds, or the failure if the request fails. */
  readonly answer: object | Failure
}

/** Context of every endpoint, in addition to its input. */
export interface Call {
  readonly gateway: Gateway
  readonly account: Account
  readonly now: Instant
  /** Value of the `Idempotency-Key` header (ruling 1.24). */
  readonly idempotencyKey: string | undefined
  /** Runs one piece of long work in the account's turn. A piece takes about a millisecond. */
  readonly inTurn: <Made>(piece: () => Made) => Made | Promise<Made>
  /** Digits in the place of `{id}` of the path, or undefined if the path has no `{id}`. */
  readonly parameter: string | undefined
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** One operation. `run` reads the input and returns the response. */
export interface Endpoint {
  readonly method: Method
  readonly operation: Operation
  /** True if the operation only reads, so that a failure has had no effect. */
  readonly reads: boolean
  /** True if the operation needs one of the few ordinary database connections and waits for its turn. */
  readonly slow: boolean
  /** Memory, in bytes, that must be free for the response before the operation starts. */
  readonly answerBytes: number
  /** Estimates the number of recipients, ids or items of a request before it is parsed. 1 by default. */
  readonly workOf?: ((sent: string | ParsedBody) => number) | undefined
  /** Text to read in place of an empty body, or undefined if a body is required. */
  readonly whenEmpty?: string | undefined
  /** Parses a body, and throws if JSON.parse would. Undefined if the operation has no body. */
  readonly parse?: ((json: string) => unknown) | undefined
  readonly run: (call: Call, sent: Sent) => Answer | Promise<Answer>
}

/** Input of an operation, as the client sent it. */
export interface Sent {
  /** Query, or body. Undefined if the surrounding app has parsed the body. */
  readonly text: string | undefined
  /** Parsed body, or undefined if the operation has none. */
  readonly body?: unknown
}

type AnswerTo<Input> = (call: Call, input: Input) => Answer | Promise<Answer>

/**
 * Returns an endpoint for a GET: a list or a look-up. `read` returns the input, or the refusal of the query (422). The
 * settings are those of `Endpoint`.
 */
export const get = <Input extends object>(
  operation: Operation,
  read: (query: string) => Input | Failure,
  answer: AnswerTo<Input>,
  { answerBytes = 0, workOf }: Partial<Pick<Endpoint, 'answerBytes' | 'workOf'>> = {},
): Endpoint => ({
  method: 'GET',
  operation,
  reads: true,
  slow: true,
  answerBytes,
  workOf,
  run: (call, { text = '' }) => {
    const input = read(text)
    return isFailure(input) ? input : answer(call, input)
  },
})

/** Returns an empty input, for operations without parameters. */
export const nothing = (): object => ({})

/** Returns an endpoint for a DELETE, which has neither a query nor a body. */
export const remove = (operation: Operation, answer: AnswerTo<object>): Endpoint => ({
  method: 'DELETE',
  operation,
  reads: false,
  slow: true,
  answerBytes: 0,
  run: (call) => answer(call, {}),
})

/**
 * Returns an endpoint for a POST or a PATCH. `read` gets the parsed body, and its text unless the surrounding app has
 * parsed it, and returns the input or a refusal (422). `parse` throws if JSON.parse would.
 */
export const post = <Input extends object>(
  operation: Operation,
  read: (body: unknown, text: string | undefined) => Input | Failure,
  answer: AnswerTo<Input>,
  { method = 'POST', reads = false, slow = false, parse = JSON.parse, whenEmpty, workOf }: PostSettings = {},
): Endpoint => ({
  method,
  operation,
  reads,
  slow,
  answerBytes: 0,
  workOf,
  whenEmpty,
  parse,
  run: (call, { body, text }) => {
    const input = read(body, text)
    return isFailure(input) ? input : answer(call, input)
  },
})

interface PostSettings extends Pick<Endpoint, 'workOf'> {
  readonly method?: 'POST' | 'PATCH'
  readonly reads?: boolean
  readonly slow?: boolean
  readonly parse?: (json: string) => unknown
  readonly whenEmpty?: string
}

export const MessageIdNumber = Type.Integer({
  title: 'MessageId',
  description: 'A message id. It does not fit into 32 bits.',
  format: 'int64',
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
})

export const WebhookNumber = Type.Integer({
  title: 'WebhookId',
  description: 'The id of a webhook.',
  minimum: 1,
  maximum: webhookIdMax,
})

export const AccountNumber = Type.Integer({
  title: 'AccountNumber',
  description: 'The number of an account, without the prefix W that is used elsewhere.',
})

export const CreditsNumber = Type.Number({
  title: 'Credits',
  description: 'Credits, written with exactly one decimal.',
  minimum: 0,
})

export const Minute = Type.String({
  title: 'Minute',
  description: 'A time YYYYMMDDHHmm at GMT+2, all year.',
  pattern: '^[0-9]{12}$',
  minLength: 12,
  maxLength: 12,
})

export const Stamp = Type.String({
  title: 'Stamp',
  description: 'A time YYYYMMDDhhmmssSSS at GMT+2, all year.',
  pattern: '^[0-9]{17}$',
  minLength: 17,
  maxLength: 17,
})

export const MobileNumber = Type.String({
  title: 'MobileNumber',
  description: 'A number in international format: digits only, no + and no leading 0, such as 27825550101.',
})

/** Schemas of the labels of a message: its reference and its category (`wire:words.ts`). */
export const labelProperties = {
  reference: Type.Optional(
    Type.String({ description: 'The reference of the message. Omitted if it has none.', maxLength: 64 }),
  ),
  category: Type.Optional(
    Type.String({ description: 'The category of the message. Omitted if it has none.', maxLength: 32 }),
  ),
}

export const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })

/** Returns the schema of a field whose value is one of these words. */
export const oneOf = (words: readonly string[], description: string) =>
  Type.Enum([...new Set(words)], { type: 'string', description })

/** Returns the schema of an object in a response, all of whose fields are required. */
export const answerObject = (title: string, fields: TProperties, description?: string) =>
  Type.Object(fields, { title, ...(description !== undefined && { description }) })

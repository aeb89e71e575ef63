import type { Gateway } from '@gateway/core'
import type { Account } from '@gateway/core/accounts'
import type { Instant } from '@gateway/core/time'
import { webhookIdMax } from '@gateway/core/webhooks'
import type { ParsedBody } from '@gateway/server'
import { type TProperties, type TSchema, Type } from 'typebox'
import { type Answer, type Failure, isFailure } from './answer.ts'

/** The groups of operations, in the order of the document. */
export const TAGS = {
  Sending: 'Texts to mobile numbers, at once or at a time, and what became of them.',
  Scheduled: 'Messages that wait for their time, and can still be deleted.',
  Incoming: 'Replies, messages to short codes, and opt-outs. Reading consumes nothing.',
  Credits: 'The balance, transfers, and the accounts of a family.',
  Webhooks: 'URLs to which events are pushed, instead of asking again and again.',
} as const
export type Tag = keyof typeof TAGS

/**
 * What the OpenAPI document says of an operation, beside its path and method. Schemas with a title are shared under
 * that name.
 */
export interface Operation {
  /** Its name in the specification, and in generated clients. */
  readonly id: string
  readonly summary: string
  readonly description: string
  readonly tag: Tag
  /** The parameters in the query of a GET. */
  readonly query?: TProperties
  /** The body of a POST or a PATCH. */
  readonly body?: TSchema
  /** Whether a client may repeat it under one `Idempotency-Key` (ruling 1.24). */
  readonly repeatable?: boolean
  /** The fields of a 200 after the envelope. */
  readonly answer: TProperties
  /** Tests send each of them, and get this answer. */
  readonly examples: Readonly<Record<string, Example>>
}

export interface Example {
  /** In the place of `{id}` of the path. */
  readonly id?: number
  readonly query?: Readonly<Record<string, string | number>>
  readonly body?: unknown
  /** The fields of a 200 after the envelope, or what is wrong with the request. */
  readonly answer: object | Failure
}

/** What every endpoint gets, beside its input. */
export interface Call {
  readonly gateway: Gateway
  readonly account: Account
  readonly now: Instant
  /** The `Idempotency-Key` header (ruling 1.24). */
  readonly idempotencyKey: string | undefined
  /** Does a piece of long work in the account's turn: a piece takes a millisecond or so. */
  readonly inTurn: <Made>(piece: () => Made) => Made | Promise<Made>
  /** The digits in the place of `{id}` of the path; undefined: it has none. */
  readonly parameter: string | undefined
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** One operation, with its input already bound: `run` reads it and answers it. */
export interface Endpoint {
  readonly method: Method
  readonly operation: Operation
  /** Whether it only reads: then a failure is certain to have done nothing. */
  readonly reads: boolean
  /** Whether it works on one of the few ordinary connections to the database, for whose turn it waits. */
  readonly slow: boolean
  /** So many bytes are to be free for its answer before anything is read. */
  readonly answerBytes: number
  /** How many recipients, ids or items a body or query is for, told before it is read; 1 if not given. */
  readonly workOf?: ((sent: string | ParsedBody) => number) | undefined
  /** What is read where a request has no body; undefined: it must have one. */
  readonly whenEmpty?: string | undefined
  /** Of a body that nobody has parsed; throws where JSON.parse does. Undefined: it has none. */
  readonly parse?: ((json: string) => unknown) | undefined
  readonly run: (call: Call, sent: Sent) => Answer | Promise<Answer>
}

/** What came of the client. */
export interface Sent {
  /** The query, or the body unless another has parsed it. */
  readonly text: string | undefined
  /** Parsed; undefined: the operation has none. */
  readonly body?: unknown
}

type AnswerTo<Input> = (call: Call, input: Input) => Answer | Promise<Answer>

/**
 * A GET: a list or a look-up. `read` gives the input, or what is wrong with the query (422). The settings are those of
 * `Endpoint`.
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

/** The input of a request that has none. */
export const nothing = (): object => ({})

/** A DELETE, which has neither a query nor a body. */
export const remove = (operation: Operation, answer: AnswerTo<object>): Endpoint => ({
  method: 'DELETE',
  operation,
  reads: false,
  slow: true,
  answerBytes: 0,
  run: (call) => answer(call, {}),
})

/**
 * A POST, or a PATCH. `read` gets the body as `parse` gives it, and its text unless another has parsed it, and gives
 * the input, or what is wrong with it (422). `parse` throws where JSON.parse does.
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
  description: 'The number of an account, without the W that is written before it elsewhere.',
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

/** Fields of the labels of a message (`wire:words.ts`). */
export const labelProperties = {
  reference: Type.Optional(
    Type.String({ description: 'What the send called the message. Left out if it has none.', maxLength: 64 }),
  ),
  category: Type.Optional(
    Type.String({ description: 'Category of the send of the message. Left out if it has none.', maxLength: 32 }),
  ),
}

export const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })

/** One of these words. */
export const oneOf = (words: readonly string[], description: string) =>
  Type.Enum([...new Set(words)], { type: 'string', description })

/** An object of an answer, with all of its fields. */
export const answerObject = (title: string, fields: TProperties, description?: string) =>
  Type.Object(fields, { title, ...(description !== undefined && { description }) })

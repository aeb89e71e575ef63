import { webhookIdMax } from '@gateway/core'
import { Type, type TProperties, type TSchema } from 'typebox'
import type { Failure } from './answer.ts'

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

export const ReferenceOfMessage = Type.Optional(
  Type.String({ description: 'What the send called the message. Left out if it has none.', maxLength: 64 }),
)

export const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })

/** One of these words. */
export const oneOf = (words: readonly string[], description: string) =>
  Type.Enum([...new Set(words)], { type: 'string', description })

/** An object of an answer, with all of its fields. */
export const answerObject = (title: string, fields: TProperties, description?: string) =>
  Type.Object(fields, { title, ...(description !== undefined && { description }) })

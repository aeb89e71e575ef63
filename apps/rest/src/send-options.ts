import {
  categoryCharactersMax,
  priorityMax,
  readSendOptions,
  type SendOptions,
  validityMinutesMax,
} from '@gateway/core/messages'
import { SEND_OPTION } from '@gateway/wire'
import { Type } from 'typebox'
import { failure, type Failure } from './answer.ts'
import { describeValue } from './request.ts'
import { optional, type Said, text } from './schema.ts'

type OptionField = (typeof SEND_OPTION)[keyof typeof SEND_OPTION]['rest']

const SAID = {
  validityMinutes: {
    expected: `a whole number from 1 to ${validityMinutesMax}`,
    description:
      'Minutes after its due time for which a message may wait; then it ends as expired (101) and is refunded. ' +
      'Omitted, null or blank: the maximum of the gateway.',
  },
  priority: {
    expected: `a whole number from 0 to ${priorityMax}`,
    description:
      'Waiting messages of the account with a higher priority are sent first. Omitted, null, blank or 0: in the order of acceptance.',
  },
  flash: {
    expected: 'true or false',
    description:
      'True if phones should show the text at once and not store it. Omitted, null, blank or false: they store it.',
  },
  category: {
    expected: `a string of up to ${categoryCharactersMax} characters without control characters`,
    description:
      `A label of your own for statements and reports: up to ${categoryCharactersMax} characters, no control ` +
      'characters. It is stored, and returned in the status, the list of scheduled messages and the events of the messages.',
  },
} as const satisfies Readonly<Record<OptionField, Said>>

/** Schemas of the fields that are options of a send. */
export const sendOptionFields = {
  validityMinutes: optional(Type.Integer({ minimum: 1, maximum: validityMinutesMax }), SAID.validityMinutes),
  priority: optional(Type.Integer({ minimum: 0, maximum: priorityMax }), SAID.priority),
  flash: optional(Type.Boolean(), SAID.flash),
  category: optional(text(SAID.category), SAID.category),
} as const satisfies Readonly<Record<OptionField, unknown>>

type OptionValues = { readonly [Field in OptionField]?: string | number | boolean | null | undefined }

/**
 * Reads the options from fields whose types the schema has checked. `place` precedes the name of the field in a
 * refusal.
 */
export function sendOptionsIn(fields: OptionValues, place: string): SendOptions | Failure {
  const options = readSendOptions((name) => textOf(fields[SEND_OPTION[name].rest]))
  if (!('unusable' in options)) return options
  const field = SEND_OPTION[options.unusable].rest
  return failure(
    'field-invalid',
    `${place}${field} must be ${SAID[field].expected}; got ${describeValue(fields[field])}.`,
  )
}

const textOf = (value: string | number | boolean | null | undefined): string | undefined =>
  value === null || value === undefined ? undefined : String(value)

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { type Static, type TSchema, Type } from 'typebox'
import { failure, type Failure } from './answer.ts'
import type { ErrorCode } from './error-codes.ts'
import { describeValue, describeType } from './request.ts'

/**
 * Internal formats. The OpenAPI document describes them in words, because languages interpret regular expressions
 * differently.
 */
const FORMAT = { usable: 'usable', blank: 'blank' }

const ajv = new Ajv({
  // Adds the failing schema to each error, because the message of a 422 contains its `expected`.
  verbose: true,
  keywords: ['expected'],
  formats: {
    [FORMAT.usable]: (string: string) => !/[\0\p{Surrogate}]/u.test(string),
    [FORMAT.blank]: (string: string) => string.trim() === '',
  },
})

/** Texts about a field: `expected` for the message of a 422, `description` for the OpenAPI document. */
export interface Said {
  readonly expected: string
  readonly description: string
}

/**
 * Returns the schema of a string that can be stored and echoed: without U+0000 and unpaired surrogates (ruling 2.4).
 */
export const text = ({ expected, description }: Said) =>
  Type.String({
    format: FORMAT.usable,
    expected,
    description: `${description} It must not contain U+0000 or an unpaired surrogate.`,
  })

/** Returns the schema of an optional field. Null and a blank string count as omitted (ruling 2.4). */
export const optional = <T extends TSchema>(schema: T, wording: Said) =>
  Type.Optional(Type.Union([schema, Type.Null(), Type.String({ format: FORMAT.blank })], { ...wording }))

/**
 * Returns a schema for publication: without `expected` and internal formats. Blank strings are described in words only.
 */
export function published(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((each) => !isBlank(each)).map(published)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, each]) => name !== 'expected' && !(name === 'format' && each === FORMAT.usable))
      .map(([name, each]) => [name, published(each)]),
  )
}

const isBlank = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'format' in value && value.format === FORMAT.blank

/**
 * Returns a function that checks a body against a schema. The message of a failure is '… must be <expected>; got …',
 * with the `expected` of the field. Unknown fields are ignored.
 */
export function reader<S extends TSchema>(schema: S): (body: unknown) => Static<S> | Failure {
  // Compiled when the first body arrives, because compiling all schemas would add 0.1 s to each start.
  let compiled: ValidateFunction<Static<S>> | undefined
  return (body) => {
    const validate = (compiled ??= ajv.compile<Static<S>>(schema))
    return validate(body) ? body : unprocessable(validate.errors)
  }
}

function unprocessable(errors: readonly ErrorObject[] | null | undefined): Failure {
  // If all alternatives fail, the last error is about the field itself.
  const error = errors?.at(-1)
  if (error === undefined) return failure('wrong-body', 'The body has the wrong shape.')
  const place = error.instancePath.slice(1).replaceAll('/', '.')
  if (error.keyword === 'required') {
    const field = String(error.params['missingProperty'])
    return failure('field-missing', `${place === '' ? field : `${place}.${field}`} is missing.`)
  }
  const subject = place === '' ? 'The body' : place
  if (isUnusableText(error, errors ?? []))
    return failure('unusable-text', `${subject} must not contain U+0000 or an unpaired surrogate.`)
  return failure(codeOf(place, error), `${subject} must be ${expected(error)}; got ${got(error)}.`)
}

/**
 * Returns true if the text of a field is unusable. For an optional field, the validator reports an error for each
 * alternative of its schema (the type and null), and only one of these errors is about the text.
 */
const isUnusableText = ({ instancePath }: ErrorObject, errors: readonly ErrorObject[]): boolean =>
  errors.some(
    ({ keyword, params, instancePath: place }) =>
      keyword === 'format' && params['format'] === FORMAT.usable && place === instancePath,
  )

function codeOf(place: string, { keyword }: ErrorObject): ErrorCode {
  if (place === '') return 'wrong-body'
  return keyword === 'maxItems' && place.endsWith('recipients') ? 'too-many-recipients' : 'field-invalid'
}

/**
 * Describes the received value: its type if the type is wrong, else the value. A fraction where a whole number is
 * expected has the right type for this purpose: it is described by its value.
 */
const got = ({ keyword, params, data }: ErrorObject): string =>
  keyword === 'type' && !(params['type'] === 'integer' && typeof data === 'number')
    ? describeType(data)
    : describeValue(data)

function expected({ parentSchema }: ErrorObject): string {
  const text: unknown = parentSchema?.['expected']
  return typeof text === 'string' ? text : 'an object'
}

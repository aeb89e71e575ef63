import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { type Static, type TSchema, Type } from 'typebox'
import { failure, type Failure } from './answer.ts'
import type { ErrorCode } from './error-codes.ts'
import { given, givenType } from './given.ts'

/**
 * Formats of ours: the OpenAPI document has words in their place, since languages read regular expressions differently.
 */
const FORMAT = { usable: 'usable', blank: 'blank' }

const ajv = new Ajv({
  // Hands the schema to the message of a 422.
  verbose: true,
  keywords: ['expected'],
  formats: {
    [FORMAT.usable]: (string: string) => !/[\0\p{Surrogate}]/u.test(string),
    [FORMAT.blank]: (string: string) => string.trim() === '',
  },
})

/** What a field must be, in the message of a 422, and what the OpenAPI document says of it. */
export interface Said {
  readonly expected: string
  readonly description: string
}

/** A string that can be used and echoed: no U+0000, no half of a surrogate pair (ruling 2.4). */
export const text = ({ expected, description }: Said) =>
  Type.String({
    format: FORMAT.usable,
    expected,
    description: `${description} It must not have U+0000 or half a surrogate pair.`,
  })

/** A field that may be left out, which null and a blank string do too (ruling 2.4). */
export const optional = <T extends TSchema>(schema: T, said: Said) =>
  Type.Optional(Type.Union([schema, Type.Null(), Type.String({ format: FORMAT.blank })], { ...said }))

/**
 * A schema without what only `reader` knows: `expected`, and formats of ours. A blank string is told of in words only.
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
 * Checks a body against a schema whose fields have `expected`: '… must be <expected>; got …'. Unknown fields are let
 * be.
 */
export function reader<S extends TSchema>(schema: S): (body: unknown) => Static<S> | Failure {
  // Compiled for the first body: all of them would take 0.1 s of each start.
  let compiled: ValidateFunction<Static<S>> | undefined
  return (body) => {
    const validate = (compiled ??= ajv.compile<Static<S>>(schema))
    return validate(body) ? body : unprocessable(validate.errors)
  }
}

function unprocessable(errors: readonly ErrorObject[] | null | undefined): Failure {
  // Of alternatives that all fail, the last error is the one about the field itself.
  const error = errors?.at(-1)
  if (error === undefined) return failure('wrong-body', 'The body has the wrong shape.')
  const place = error.instancePath.slice(1).replaceAll('/', '.')
  if (error.keyword === 'required') {
    const field = String(error.params['missingProperty'])
    return failure('field-missing', `${place === '' ? field : `${place}.${field}`} is missing.`)
  }
  const what = place === '' ? 'The body' : place
  if (isUnusableText(error, errors ?? []))
    return failure('unusable-text', `${what} must not hold U+0000 or half a character.`)
  return failure(codeOf(place, error), `${what} must be ${expected(error)}; got ${got(error)}.`)
}

/** An optional field fails with the errors of all its alternatives, and one of them says that the text is unusable. */
const isUnusableText = ({ instancePath }: ErrorObject, errors: readonly ErrorObject[]): boolean =>
  errors.some(
    ({ keyword, params, instancePath: place }) =>
      keyword === 'format' && params['format'] === FORMAT.usable && place === instancePath,
  )

function codeOf(place: string, { keyword }: ErrorObject): ErrorCode {
  if (place === '') return 'wrong-body'
  return keyword === 'maxItems' && place.endsWith('recipients') ? 'too-many-recipients' : 'field-invalid'
}

/** Of a wrong type the type, else the value; but of a number where a whole one is wanted its value, too. */
const got = ({ keyword, params, data }: ErrorObject): string =>
  keyword === 'type' && !(params['type'] === 'integer' && typeof data === 'number') ? givenType(data) : given(data)

function expected({ parentSchema }: ErrorObject): string {
  const text: unknown = parentSchema?.['expected']
  return typeof text === 'string' ? text : 'an object'
}

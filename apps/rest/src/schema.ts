import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { Type, type Static, type TSchema } from 'typebox'
import { failure, type Failure } from './answer.ts'
import { given, givenType } from './given.ts'

// `verbose` hands the schema's description to the message of a 422.
const ajv = new Ajv({ verbose: true })

/** A string that can be used and echoed: no U+0000, no half of a surrogate pair (ruling 2.4). */
export const text = (description: string) => Type.String({ pattern: '^[^\\0\\p{Surrogate}]*$', description })

/** A field that may be left out, which null and a blank string do too (ruling 2.4). */
export const optional = <T extends TSchema>(schema: T, description: string) =>
  Type.Optional(Type.Union([schema, Type.Null(), Type.String({ pattern: '^\\s*$' })], { description }))

/** Checks a body against a schema whose fields have descriptions: '… must be <description>; got …'. Unknown fields are let be. */
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
  if (error === undefined) return failure(422, 'The body has the wrong shape.')
  const place = error.instancePath.slice(1).replaceAll('/', '.')
  if (error.keyword === 'required') {
    const field = String(error.params['missingProperty'])
    return failure(422, `${place === '' ? field : `${place}.${field}`} is missing.`)
  }
  const what = place === '' ? 'The body' : place
  if (error.keyword === 'pattern') return failure(422, `${what} must not hold U+0000 or half a character.`)
  return failure(422, `${what} must be ${description(error)}; got ${got(error)}.`)
}

/** Of a wrong type the type, else the value; but of a number where a whole one is wanted its value, too. */
const got = ({ keyword, params, data }: ErrorObject): string =>
  keyword === 'type' && !(params['type'] === 'integer' && typeof data === 'number') ? givenType(data) : given(data)

function description({ parentSchema }: ErrorObject): string {
  const text: unknown = parentSchema?.['description']
  return typeof text === 'string' ? text : 'an object'
}

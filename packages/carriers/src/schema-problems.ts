import { Ajv, type ErrorObject } from 'ajv'
import { carriersSchema } from './carriers-schema.ts'

/** Problems that are told at a time. */
const problemsMax = 10

const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(carriersSchema)

/** What is wrong with a document, each with its place as a JSON pointer; empty: nothing. No value of the document is in it. */
export function schemaProblems(document: unknown): readonly string[] {
  if (validate(document)) return []
  const told = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if' && keyword !== 'propertyNames')
  const all = [...new Set(told.map((error) => `${error.instancePath || '/'}: ${whatIsWrong(error)}`))]
  return all.length <= problemsMax ? all : [...all.slice(0, problemsMax), `and ${all.length - problemsMax} more`]
}

function whatIsWrong({ keyword, params, message = 'is wrong', schemaPath, propertyName }: ErrorObject): string {
  const { missingProperty, additionalProperty, allowedValues, type } = params as Partial<
    Readonly<Record<string, unknown>>
  >
  if (propertyName !== undefined && schemaPath.includes('/then/')) {
    return `${JSON.stringify(propertyName)} cannot stand beside "url": it belongs into the URL`
  }
  if (propertyName !== undefined) return `${JSON.stringify(propertyName)} is no code of an error, such as 0x45`
  if (keyword === 'required') return `${JSON.stringify(missingProperty)} is missing`
  if (keyword === 'additionalProperties') return `there is no field ${JSON.stringify(additionalProperty)}`
  if (keyword === 'enum') return `one of ${(allowedValues as readonly unknown[]).join(', ')} is expected`
  if (keyword === 'type') return `${[type].flat().join(' or ')} is expected`
  return message
}

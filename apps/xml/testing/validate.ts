import { readFile } from 'node:fs/promises'
import { validateXML } from 'xmllint-wasm'

export type Schema = `${'send' | 'status' | 'delete' | 'replies' | 'short-code'}-${'request' | 'response'}`

/** Returns the errors that the schema served by the gateway finds in these documents. */
export async function complaints(schema: Schema, documents: readonly string[]): Promise<readonly string[]> {
  const errors = await validate(schema, documents)
  return errors.map(({ rawMessage }) => rawMessage)
}

/** Returns for each document whether it is valid according to the schema. */
export async function areOf(schema: Schema, documents: readonly string[]): Promise<readonly boolean[]> {
  return withoutErrors(documents, await validate(schema, documents))
}

async function validate(schema: Schema, documents: readonly string[]) {
  const file = new URL(`../schemas/${schema}.xsd`, import.meta.url)
  const { errors } = await validateXML({
    xml: named(documents),
    schema: await readFile(file, 'utf8'),
    maxMemoryPages: 16_384, // the longest answer has 120 000 elements
  })
  return errors
}

/**
 * Returns for each document whether an independent XML parser finds it well-formed. Suited for a few hundred documents.
 */
export async function areWellFormed(documents: readonly (string | Uint8Array)[]): Promise<readonly boolean[]> {
  // Network access and external entities are disabled.
  const { errors } = await validateXML({
    xml: named(documents),
    normalization: 'c14n',
    modifyArguments: (defaults) => ['--nonet', '--noout', ...defaults.filter((argument) => argument !== '--c14n')],
  })
  return withoutErrors(documents, errors)
}

const nameOf = (at: number): string => `d${at}.xml`

const named = <Contents extends string | Uint8Array>(documents: readonly Contents[]) =>
  documents.map((contents, at) => ({ fileName: nameOf(at), contents }))

type Found = Awaited<ReturnType<typeof validateXML>>['errors']

function withoutErrors(documents: readonly unknown[], errors: Found): readonly boolean[] {
  const bad = new Set(errors.map(({ loc, rawMessage }) => loc?.fileName ?? rawMessage.split(':')[0]))
  return documents.map((_, at) => !bad.has(nameOf(at)))
}

import { readFile } from 'node:fs/promises'
import { validateXML } from 'xmllint-wasm'

export type Schema = 'send' | 'status' | 'delete' | 'replies' | 'short-code'

/** What a validator of the schemas in the documentation has against these documents; none: []. */
export async function complaints(schema: Schema, documents: readonly string[]): Promise<readonly string[]> {
  const file = new URL(`../../../docs/interfaces/xml/${schema}-response.xsd`, import.meta.url)
  const result = await validateXML({ xml: documents, schema: await readFile(file, 'utf8') })
  return result.valid ? [] : result.errors.map(({ rawMessage }) => rawMessage)
}

/** Of each document (some hundreds at most), whether another reader of XML finds it well-formed. */
export async function areWellFormed(documents: readonly (string | Uint8Array)[]): Promise<readonly boolean[]> {
  const xml = documents.map((contents, at) => ({ fileName: `d${at}.xml`, contents }))
  // Without a network and without loading what a document names.
  const { errors } = await validateXML({
    xml,
    normalization: 'c14n',
    modifyArguments: (given) => ['--nonet', '--noout', ...given.filter((argument) => argument !== '--c14n')],
  })
  const bad = new Set(errors.map(({ loc, rawMessage }) => loc?.fileName ?? rawMessage.split(':')[0]))
  return xml.map(({ fileName }) => !bad.has(fileName))
}

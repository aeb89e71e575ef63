import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { CarrierConfiguration } from './configuration.ts'
import { fail, readDocument } from './document.ts'
import { lookUpsIn, type Variables } from './look-ups.ts'
import { parseJson } from './parse-json.ts'

/**
 * The configuration in a file. Relative paths in it begin at its folder. Throws an Error that names the file and the places in it that are
 * wrong, never a value that may be secret.
 */
export function readCarriersFile(path: string, variables: Variables): CarrierConfiguration {
  const document = parsed(path)
  const lookUps = lookUpsIn(dirname(resolve(path)), variables)
  const read = readDocument(path, document, lookUps)
  return { ...read, file: path, source: { document, ...lookUps.found } }
}

function parsed(path: string): unknown {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (problem) {
    return fail(path, [`it cannot be read: ${(problem as NodeJS.ErrnoException).code ?? 'unknown error'}`])
  }
  const document = parseJson(text)
  return 'problem' in document ? fail(path, [document.problem]) : document.value
}

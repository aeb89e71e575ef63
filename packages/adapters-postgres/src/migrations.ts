import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

/**
 * One step of the schema. A step that has been released is never changed: the next one corrects it. Steps after the
 * baseline only add (tables, columns with defaults, indexes, functions), so that the version before runs beside them.
 */
export interface Migration {
  /** Its place in the order; the number in its name. */
  readonly version: number
  readonly name: string
  /** Several statements, run in one transaction. Names no schema: everything is found by the search path. */
  readonly sql: string
}

/** Beside `src` and `dist`, so that sources, build and packed package read the same texts. */
const folder = new URL('../migrations/', import.meta.url)

/** Every step of the schema, in order. */
export const migrations: readonly Migration[] = readdirSync(folder).toSorted().map(read)

/** SHA-256 in hexadecimal. The database keeps that of each text it ran. */
export const digestOf = ({ sql }: Pick<Migration, 'sql'>): string => hash('sha256', sql)

/** A folder `0001-name`, whose files are one text in the order of their names. */
function read(entry: string): Migration {
  const files = readdirSync(new URL(`${entry}/`, folder)).filter((file) => file.endsWith('.sql'))
  const texts = files.toSorted().map((file) => readFileSync(new URL(`${entry}/${file}`, folder), 'utf8'))
  return { version: Number.parseInt(entry, 10), name: entry.replace(/^\d+-/, ''), sql: texts.join('\n') }
}

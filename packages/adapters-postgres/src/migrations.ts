import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

/**
 * One step of the schema: tables, columns with defaults, indexes and moves of data, but no functions (`functions.ts`)
 * and no calls of them. A step that has been released is never changed: the next one corrects it. Steps after the
 * baseline only add, so that the version before runs beside them.
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

/**
 * The baseline of version 0.2.0 had the functions, too. New databases keep its digest as well, so that 0.2.0 and this
 * version accept each other's databases: both texts make the same tables.
 */
const digestKept: Readonly<Record<string, string>> = {
  f4760bcae927f39c38b935ea6d4d5ab1d5c8c29c3d3e6aa65f4918ebfd56277c:
    '0a744937623015d50c453e0823f97c6dc3b6e0cdcf8846586b2678f1ec5bdf34',
}

/** Digest that the database keeps of each migration: SHA-256 of its text in hexadecimal. */
export function digestOf({ sql }: Pick<Migration, 'sql'>): string {
  const digest = hash('sha256', sql)
  return digestKept[digest] ?? digest
}

/** A folder `0001-name`, whose files are one text in the order of their names. */
function read(entry: string): Migration {
  const files = readdirSync(new URL(`${entry}/`, folder)).filter((file) => file.endsWith('.sql'))
  const texts = files.toSorted().map((file) => readFileSync(new URL(`${entry}/${file}`, folder), 'utf8'))
  return { version: Number.parseInt(entry, 10), name: entry.replace(/^\d+-/, ''), sql: texts.join('\n') }
}

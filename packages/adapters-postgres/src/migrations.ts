import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

/**
 * One step of the schema: tables, columns with defaults, indexes and moves of data, but no functions (`functions.ts`)
 * and no calls of them. A released step never changes; the next one corrects it. Steps after the baseline only add, so
 * that the previous version can run beside them.
 */
export interface Migration {
  /** Place in the order, and the number in the name of its folder. */
  readonly version: number
  readonly name: string
  /** Statements to run in one transaction. Names are not qualified by a schema: the search path finds them. */
  readonly sql: string
}

/** Folder beside `src` and `dist`, so that sources, build and packed package read the same texts. */
const folder = new URL('../migrations/', import.meta.url)

/** All steps of the schema, in order. */
export const migrations: readonly Migration[] = readdirSync(folder).toSorted().map(read)

/**
 * Digests to store in place of the actual ones. The baseline of version 0.2.0 also had the functions. New databases
 * store the digest of that text, so that 0.2.0 and this version accept each other's databases; both texts make the same
 * tables.
 */
const storedDigests: Readonly<Record<string, string>> = {
  f4760bcae927f39c38b935ea6d4d5ab1d5c8c29c3d3e6aa65f4918ebfd56277c:
    '0a744937623015d50c453e0823f97c6dc3b6e0cdcf8846586b2678f1ec5bdf34',
}

/** Returns the digest that the database stores for a migration: SHA-256 of its text in hexadecimal. */
export function digestOf({ sql }: Pick<Migration, 'sql'>): string {
  const digest = hash('sha256', sql)
  return storedDigests[digest] ?? digest
}

/** Reads a migration from a folder `0001-name`, whose files form one text in the order of their names. */
function read(entry: string): Migration {
  const files = readdirSync(new URL(`${entry}/`, folder)).filter((file) => file.endsWith('.sql'))
  const texts = files.toSorted().map((file) => readFileSync(new URL(`${entry}/${file}`, folder), 'utf8'))
  return { version: Number.parseInt(entry, 10), name: entry.replace(/^\d+-/, ''), sql: texts.join('\n') }
}

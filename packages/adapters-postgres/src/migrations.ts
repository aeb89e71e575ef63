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
 * Digests to store in place of the actual ones for migrations whose comments have changed. With them, this version
 * accepts databases that earlier versions made, and earlier versions accept databases that this one makes. The baseline
 * of version 0.2.0 also had the functions.
 */
const storedDigests: Readonly<Record<string, string>> = {
  '92483b0f0f0cb56477bbce4d56536f046a0efecb2d7785971d2b276badbf1ae3':
    '0a744937623015d50c453e0823f97c6dc3b6e0cdcf8846586b2678f1ec5bdf34',
  da70c2e4a7c8269d8910bfdf8983860e0dd1fbb6b8089be5d4a406cba8dea952:
    'b684ac6ecd9d591c1315af60b2d42be4f883938002c3ccd3fedc15a3c9cacec4',
  bb93ed5bfc88cbf2ee353bd36300e84d273570899d9281a497852e43b9d044b2:
    '620c5d6281fe0b81b6ff69d858c499f05db2eec23fdccd3549684c758749f698',
  b6259a909f6038527f17eb75d3f344e5332cebdd3b975dd2f15073c7f4dbfa0b:
    '052a8d8dabee47c9572e780958b731b0d8cc2d24988023587bfea1bf88e9eb7e',
  '3baad2e15a302262cdcbab9d484683d3f39fc549e476ee245ffb9def3718f33b':
    '37f4ad532b24b44fedc4ddb5c2e7939f912afb5387f1677881e4ec6797737379',
  ef8584809a030c2ef7ff508aa1df687e67633db966e45304cccfba91fcb7c8c2:
    '992d405ba4ce6021ac757412b3b68ba3155799646f302fb1ac50fb826d023027',
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

import { readdir } from 'node:fs/promises'
import type { Statement } from '../src/sql/statement.ts'

/** Any statement of `src/sql`. */
export type AnyStatement = Statement<never, unknown>

/** Returns all statements of `src/sql`. A statement that exists for each partition is returned for partition 1 only. */
export async function allStatements(): Promise<readonly AnyStatement[]> {
  const folder = new URL('../src/sql/', import.meta.url)
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  const found: AnyStatement[] = []
  // Imports one file after the other, because Jest cannot load modules that share imports concurrently.
  for (const file of files) {
    const exported = (await import(new URL(file, folder).href)) as Readonly<Record<string, unknown>>
    found.push(...Object.values(exported).flatMap(statementsIn))
  }
  return found
}

function statementsIn(exported: unknown): readonly AnyStatement[] {
  if (typeof exported === 'function')
    return /^\(?partition/.test(String(exported)) ? statementsIn((exported as (partition: number) => unknown)(1)) : []
  if (typeof exported !== 'object' || exported === null) return []
  if ('name' in exported && 'text' in exported) return [exported as AnyStatement]
  return Object.values(exported).flatMap(statementsIn)
}

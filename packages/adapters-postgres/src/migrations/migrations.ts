import { baseline } from './0001-baseline/baseline.ts'
import type { Migration } from './migration.ts'

/** Every step of the schema, in order. */
export const migrations: readonly Migration[] = [baseline]

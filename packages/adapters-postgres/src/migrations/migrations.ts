import { accountsAndMessages } from './0001-accounts-and-messages.ts'
import { flights } from './0002-flights.ts'
import type { Migration } from './migration.ts'

/** Every step of the schema, in order. */
export const migrations: readonly Migration[] = [accountsAndMessages, flights]

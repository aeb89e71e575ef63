export { copyDatabase, type CopiedTable } from './copy/copy-database.ts'
export { migrate, type AppliedMigration } from './migrate.ts'
export { postgresPorts, type PostgresOptions, type PostgresPorts } from './postgres-ports.ts'
export { defaultSettings, type Log, type Settings } from './settings.ts'

export { openDatabase, type DatabaseOptions } from './open-database.ts'
export {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from './start-embedded-postgres.ts'
export { removeCluster } from './remove-cluster.ts'
export type { Settings } from './settings.ts'

export { openDatabase, type DatabaseOptions } from './start-embedded-postgres.ts'
export {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from './start-embedded-postgres.ts'
export { removeCluster } from './create-cluster.ts'
export type { Settings } from './postmaster.ts'
export { upgradeCluster, type Upgraded, type UpgradeOptions } from './upgrade-cluster.ts'

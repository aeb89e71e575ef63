import type { Settings } from '../src/settings.ts'

/**
 * Settings for tests that do not test time limits. A busy machine does not exceed these limits. There are only two
 * connections of each kind, because a connection takes 50 ms of CPU and two concurrent callers are enough.
 */
export const patientSettings: Partial<Settings> = {
  connectionSeconds: 60,
  lockSeconds: 60,
  statementSeconds: 60,
  lookUpSeconds: 60,
  hotConnectionsMax: 2,
  ordinaryConnectionsMax: 2,
}

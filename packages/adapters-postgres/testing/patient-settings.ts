import type { Settings } from '../src/settings.ts'

/**
 * For tests that are not about time limits: a busy machine takes longer, and that is no failure. A connection takes 50
 * ms of CPU: two callers at once are enough to meet.
 */
export const patientSettings: Partial<Settings> = {
  connectionSeconds: 60,
  lockSeconds: 60,
  statementSeconds: 60,
  lookUpSeconds: 60,
  hotConnectionsMax: 2,
  ordinaryConnectionsMax: 2,
}

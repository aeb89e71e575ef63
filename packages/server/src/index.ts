export { bool, EnvError, makeValidator, str } from 'envalid'
export { admissionGate, measureAdmission, type AdmissionGate } from './admission-gate.ts'
export { clientNetwork } from './client-network.ts'
export { createApp, type AppSettings } from './create-app.ts'
export { readEnvironment, type Environment, type Variables } from './environment.ts'
export { handOvers, type HandOvers } from './hand-over.ts'
export { healthRoutes, type Checks, type HealthSettings } from './health.ts'
export { hideSecrets } from './hide-secrets.ts'
export { listen, type ListenSettings, type Running } from './listen.ts'
export { createLog, type Log, type LogSettings } from './log.ts'
export { measureLogins, warnOfFailedLogins } from './login-reports.ts'
export { createMetrics, type Metrics } from './metrics.ts'
export { nameEndpoint } from './observe-requests.ts'
export { onError, type AnswerError } from './on-error.ts'
export { readBody } from './read-body.ts'
export { requestPath } from './request-path.ts'
export type { Host } from './host.ts'
export { runProcess, type Life, type ProcessSettings } from './run-process.ts'
export { servePaths, type PathsSettings } from './serve-paths.ts'
export { writeOut } from './standard-output.ts'
export { streamAnswer } from './stream-answer.ts'
export {
  databaseSettings,
  databaseVariables,
  listOf,
  loadVariables,
  loginSettings,
  loginVariables,
  processVariables,
  serverVariables,
  text,
  wholeNumber,
} from './variables.ts'
export { version } from './version.ts'

export {
  type AdmissionGate,
  admissionGate,
  afterPlace,
  measureAdmission,
  withPlace,
} from './admission/admission-gate.ts'
export { type BodyPlace, withRoom } from './admission/body-memory.ts'
export type { TimeSlices } from './admission/turns.ts'
export { type DescribeMalformed, type MalformedAnswer, malformedInText } from './answer-malformed.ts'
export { clientAddress, clientNetwork, comesFrom, inNetworks, networkOf } from './client-address.ts'
export {
  databaseSettings,
  databaseVariables,
  type Environment,
  flag,
  hideSecrets,
  listOf,
  loadSettings,
  loadVariables,
  loginSettings,
  loginVariables,
  oidcSettings,
  type OidcSettings,
  oidcVariables,
  optionalPort,
  optionalText,
  optionalUrl,
  processVariables,
  readEnvironment,
  readNetwork,
  serverUrl,
  serverVariables,
  text,
  type Variables,
  wholeNumber,
} from './configuration.ts'
export { type ConfirmedResponses, confirmedResponses } from './confirmed-responses.ts'
export {
  endpointHandler,
  type EndpointHandlerSettings,
  fallbackHandler,
  type FoundPath,
  type PathRules,
  pathTable,
  prepareResponse,
  type Service,
} from './endpoint-handler.ts'
export { inSlices } from './event-loop.ts'
export { createApp, createServiceApp, pageHeaders, type ServiceAppSettings, trustProxies } from './express-app.ts'
export { type Checks, healthRoutes, type HealthSettings, type Problem, unreadyReason } from './health.ts'
export { listen, type ListenSettings, type Running } from './listen.ts'
export { createLog, type Log, type LogSettings, throttled, writeOut } from './log.ts'
export { measureLogins, warnOfFailedLogins } from './login-reports.ts'
export { createMetrics, type Metrics } from './metrics.ts'
export { type AnswerError, hadNoEffect, isProgrammingError, onError, withoutEffect } from './on-error.ts'
export { type PublicDocument, publicDocuments, type PublicDocuments } from './public-documents.ts'
export {
  arrivedBody,
  arrivingBody,
  type ArrivingBody,
  type ParsedBody,
  readBody,
  smallBytes,
} from './request-bodies.ts'
export { mediaType, requestIdHeader, requestQuery, requestTarget } from './request-parts.ts'
export { remembered } from './remembered.ts'
export { type Outage, outageOf, repeat, type Repeated, type Repeating } from './repeat.ts'
export { type ProcessContext, type ProcessSettings, runProcess } from './run-process.ts'
export type { Host } from './shutdown.ts'
export { createTracing, type Ended, type Tracing } from './tracing.ts'
export { version } from './version.ts'
export { extraAuthorities, type ConfiguredCertificates, watchCertificates } from './watch-certificates.ts'
export { endResponse, setHeaders, streamResponse, writeWhole } from './write-response.ts'

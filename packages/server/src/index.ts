export { admissionGate, afterPlace, measureAdmission, withPlace, type AdmissionGate } from './admission-gate.ts'
export { malformedInText, type DescribeMalformed, type MalformedAnswer } from './answer-malformed.ts'
export { arrivedBody, arrivingBody, type ArrivingBody } from './arriving-body.ts'
export type { BodyPlace } from './body-memory.ts'
export { clientAddress, comesFrom } from './client-address.ts'
export { clientNetwork } from './client-network.ts'
export {
  databaseSettings,
  databaseVariables,
  flag,
  hideSecrets,
  listOf,
  loadSettings,
  loadVariables,
  loginSettings,
  loginVariables,
  processVariables,
  readEnvironment,
  readNetwork,
  serverUrl,
  serverVariables,
  text,
  wholeNumber,
  type Environment,
  type Variables,
} from './configuration.ts'
export { createApp, pageHeaders } from './create-app.ts'
export { createServiceApp, type ServiceAppSettings } from './create-service-app.ts'
export { endResponse, setHeaders } from './end-response.ts'
export { endpointHandler, fallbackHandler, type EndpointHandlerSettings } from './endpoint-handler.ts'
export { confirmedResponses, type ConfirmedResponses } from './confirmed-responses.ts'
export { healthRoutes, type Checks, type HealthSettings, type Problem } from './health.ts'
export { listen, type ListenSettings, type Running } from './listen.ts'
export { createLog, type Log, type LogSettings } from './log.ts'
export { measureLogins, warnOfFailedLogins } from './login-reports.ts'
export { createMetrics, type Metrics } from './metrics.ts'
export type { Service } from './observe-requests.ts'
export { onError, type AnswerError } from './on-error.ts'
export type { Host } from './host.ts'
export { pathTable, type FoundPath, type PathRules } from './path-table.ts'
export { prepareResponse } from './prepare-response.ts'
export { publicDocuments, type PublicDocument, type PublicDocuments } from './public-documents.ts'
export { readBody, smallBytes, type ParsedBody } from './read-body.ts'
export { requestIdHeader } from './request-id.ts'
export { mediaType, requestQuery } from './request-parts.ts'
export { runProcess, type ProcessContext, type ProcessSettings } from './run-process.ts'
export { trustProxies } from './trusted-proxies.ts'
export { writeOut } from './standard-output.ts'
export type { TimeSlices } from './time-slices.ts'
export { inSlices } from './in-slices.ts'
export { streamResponse } from './stream-response.ts'
export { hadNoEffect, withoutEffect } from './without-effect.ts'
export { extraAuthorities, watchCertificates, type GivenCertificates } from './watch-certificates.ts'
export { version } from './version.ts'
export { withRoom } from './with-room.ts'

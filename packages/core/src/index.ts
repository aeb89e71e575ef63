// Three factories, one for each actor. Everything else is exported by the concept: @gateway/core/messages and so on.
export { createGateway, gatewayDefaults, type Gateway, type GatewaySettings } from './gateway.ts'
export { createProcessing, processingDefaults, type Processing, type ProcessingSettings } from './processing.ts'
export { createBackOffice, type AccountFactor, type BackOffice } from './back-office.ts'
export { limits } from './limits.ts'
export { NothingDoneError } from './nothing-done.ts'
export type { Ports, StoredPorts } from './ports.ts'

// Exports three factories, one for each actor, and access by role. Everything else is exported by a module for each
// concept, such as @gateway/core/messages.
export { createGateway, type Gateway, type GatewayCommands, type GatewayQueries } from './gateway.ts'
export { createProcessing, processingDefaults, type Processing, type ProcessingSettings } from './processing.ts'
export { createBackOffice, type BackOffice, type BackOfficeCommands, type BackOfficeQueries } from './back-office.ts'
export {
  holderAccess,
  mayHolder,
  mayOperator,
  operatorAccess,
  type AuditAction,
  type HolderAccess,
  type HolderCommand,
  type OperatorAccess,
} from './access.ts'
export { gatewayDefaults, type BackOfficeSettings, type GatewaySettings } from './settings.ts'
export { limits } from './limits.ts'
export { NothingDoneError } from './nothing-done.ts'
export type { FleetPorts, HolderPorts, OperatorPorts, Ports, ProcessingPorts, StoredPorts } from './ports.ts'

export { openPorts, type Opened } from './open-ports.ts'
export { serveGateway, type ServerParts } from './serve-gateway.ts'
export { startInterface, type InterfaceSettings } from './start-interface.ts'
export { gatewayVariables, SENDERS } from './variables.ts'

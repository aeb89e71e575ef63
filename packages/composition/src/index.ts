export { loginsOf, openPorts, type Opened } from './open-ports.ts'
export { serveGateway } from './serve-gateway.ts'
export { startInterface } from './start-interface.ts'
export { gatewayVariables, processingSettings, processingVariables, SENDERS } from './variables.ts'

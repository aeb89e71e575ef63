export { isAspPath } from './routes.ts'
export { createAspServer, type AspSettings } from './server.ts'
export { gatewaySettings, gatewayVariables } from './variables.ts'

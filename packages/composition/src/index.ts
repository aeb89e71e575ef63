export {
  gatewayVariables,
  processingSettings,
  processingVariables,
  publishedVariables,
  SENDERS,
  webhookPorts,
  webhookVariables,
  type WebhookEnvironment,
} from './configuration.ts'
export { measureClock } from './measure-clock.ts'
export { loginsOf, openPorts, type Opened } from './open-ports.ts'
export { serveGateway } from './serve-gateway.ts'
export { startInterface } from './start-interface.ts'

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
export { keepDailyBackups } from './daily-backups.ts'
export { measureDatabase } from './measure-database.ts'
export { loginsOf, openPorts, type Opened } from './open-ports.ts'
export { measureClock, serveGateway, startInterface } from './serve-gateway.ts'

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
export { connectingProviders } from './connecting-providers.ts'
export { keepDailyBackups } from './daily-backups.ts'
export { measureProcess } from './measure-process.ts'
export { startInterface, serveGateway } from './serve-gateway.ts'
export { loginsOf, openPorts, type Opened } from './open-ports.ts'
export { gatewaySettings } from './variables.ts'
export { watchAccounts } from './watch-accounts.ts'

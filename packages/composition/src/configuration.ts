// The part of this package that the command line needs. It does not load the server.
export {
  gatewayVariables,
  processingSettings,
  processingVariables,
  publishedVariables,
  SENDERS,
  webhookPorts,
  webhookVariables,
  type WebhookEnvironment,
} from './variables.ts'

/**
 * Files that processes create in a DATA_DIR after its database: the keys of stored secrets and the record of the
 * simulated carrier.
 */
export const dataDirCompanions: readonly string[] = ['secrets.key', 'simulator']

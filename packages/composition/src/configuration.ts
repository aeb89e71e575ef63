// What the command line takes too, without what serves.
export { gatewayVariables, processingSettings, processingVariables, SENDERS } from './variables.ts'
export { webhookPorts, webhookVariables, type WebhookEnvironment } from './webhook-ports.ts'

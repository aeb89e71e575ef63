// What the command line takes too, without what serves.
export { dataDirCompanions } from './data-dir.ts'
export { publishedVariables } from './published-variables.ts'
export { gatewayVariables, processingSettings, processingVariables, SENDERS } from './variables.ts'
export { webhookPorts, webhookVariables, type WebhookEnvironment } from './webhook-ports.ts'

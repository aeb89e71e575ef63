export { webhookClient, type WebhookClientSettings } from './webhook-client.ts'

export { nodeSecrets, type NodeSecretsSettings } from './node-secrets.ts'
export { systemClock } from './system-clock.ts'

export type { FailedLogins } from './failed-logins.ts'
export { nodeSecrets, type NodeSecrets, type NodeSecretsSettings } from './node-secrets.ts'
export { systemClock } from './system-clock.ts'

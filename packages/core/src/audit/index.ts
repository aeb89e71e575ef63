export * from './audit-log.ts'
export * from './record-change.ts'
export * from './redact.ts'

export * from './audit-log.ts'
export * from './audited-back-office.ts'
export * from './audited-gateway.ts'

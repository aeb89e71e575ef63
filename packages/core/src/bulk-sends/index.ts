export * from './bulk-sends.ts'
export * from './keep-templates.ts'
export * from './send-in-bulk.ts'
export * from './templates.ts'

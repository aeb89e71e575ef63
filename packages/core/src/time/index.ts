export * from './gateway-time.ts'
export * from './instant.ts'

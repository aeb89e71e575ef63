export * from './change-suppressions.ts'
export * from './suppressions.ts'

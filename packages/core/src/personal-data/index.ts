export * from './erase-number.ts'
export * from './personal-data.ts'

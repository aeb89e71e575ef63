export * from './client-requests.ts'

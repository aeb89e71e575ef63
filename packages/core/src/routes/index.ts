export * from './check-routes.ts'
export * from './published-routes.ts'
export * from './routes.ts'

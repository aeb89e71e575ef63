export { isRestPath } from './routes.ts'
export { createRestServer, type RestSettings } from './server.ts'

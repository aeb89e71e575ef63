export { restNotFound, restRouter, type RestSettings } from './router.ts'
export { prefix as restPrefix } from './routes.ts'
export { createRestServer, type RestServerSettings } from './server.ts'

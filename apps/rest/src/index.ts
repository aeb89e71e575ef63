export { documents as restDocuments } from './documents.ts'
export { describeMalformed as restDescribeMalformed } from './routes.ts'
export { createRestServer, restNotFound, restRouter, type RestServerSettings, type RestSettings } from './router.ts'
export { prefix as restPrefix } from './routes.ts'

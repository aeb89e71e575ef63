export { isAspPath } from './routes.ts'
export { createAspServer, type AspSettings } from './server.ts'

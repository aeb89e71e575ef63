export { aspNotFound, aspRouter, type AspSettings } from './router.ts'
export { mount as aspMount } from './routes.ts'
export { createAspServer, type AspServerSettings } from './server.ts'

export { describeMalformed as aspDescribeMalformed } from './routes.ts'
export { documents as aspDocuments } from './documents.ts'
export { aspNotFound, aspRouter, createAspServer, type AspServerSettings, type AspSettings } from './router.ts'
export { mount as aspMount } from './routes.ts'

export { describeMalformed as aspDescribeMalformed } from './describe-malformed.ts'
export { documents as aspDocuments } from './documents.ts'
export { aspNotFound, aspRouter, createAspServer, type AspServerSettings, type AspSettings } from './router.ts'
export { mount as aspMount } from './routes.ts'

export { createXmlServer, type XmlServerSettings } from './server.ts'
export { mount as xmlMount, ownsPath as xmlOwnsPath } from './routes.ts'
export { xmlNotFound, xmlRouter, type XmlSettings } from './router.ts'

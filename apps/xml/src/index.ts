export { createXmlServer, type XmlServerSettings } from './server.ts'
export { mount as xmlMount, named as xmlNamed } from './routes.ts'
export { xmlNotFound, xmlRouter, type XmlSettings } from './router.ts'

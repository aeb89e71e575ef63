export { describeMalformed as xmlDescribeMalformed } from './routes.ts'
export { documents as xmlDocuments } from './documents.ts'
export { mount as xmlMount, ownsPath as xmlOwnsPath } from './routes.ts'
export { createXmlServer, xmlNotFound, xmlRouter, type XmlServerSettings, type XmlSettings } from './router.ts'

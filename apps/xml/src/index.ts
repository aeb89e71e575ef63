export { createXmlServer, type XmlSettings } from './server.ts'
export { isXmlPath } from './routes.ts'

export { serveSmpp, type ServedSmpp, type ServeSmppParts } from './serve-smpp.ts'
export { startSmppServer, type SmppServer, type SmppServerSettings } from './smpp-server.ts'
export { smppServerVariables, type SmppEnvironment } from './variables.ts'

export { createAllInOneServer, type AllInOneSettings } from './server.ts'

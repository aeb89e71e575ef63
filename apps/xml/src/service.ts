import { startInterface } from '@gateway/composition'
import { createXmlServer } from './server.ts'

await startInterface({ name: 'xml', port: 8083, createServer: createXmlServer })

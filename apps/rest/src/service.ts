import { startInterface } from '@gateway/composition'
import { createRestServer } from './server.ts'

await startInterface({ name: 'rest', port: 8081, createServer: createRestServer })

import { startInterface } from '@gateway/composition'
import { createAspServer } from './server.ts'

await startInterface({ name: 'asp', port: 8082, createServer: createAspServer })

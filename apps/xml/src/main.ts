import { exitOnEarlySignals } from '@gateway/server/early-signals'

exitOnEarlySignals()
const [{ startInterface }, { createXmlServer }] = await Promise.all([
  import('@gateway/composition'),
  import('./router.ts'),
])
await startInterface({ name: 'xml', port: 8083, createServer: createXmlServer })

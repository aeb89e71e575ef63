import { exitOnEarlySignals } from '@gateway/server/early-signals'

exitOnEarlySignals()
const [{ startInterface }, { createXmlServer }, { describeMalformed }] = await Promise.all([
  import('@gateway/composition'),
  import('./router.ts'),
  import('./routes.ts'),
])
await startInterface({
  name: 'xml',
  port: 8083,
  createServer: createXmlServer,
  describeMalformed,
})

import { exitOnEarlySignals } from '@gateway/server/early-signals'

exitOnEarlySignals()
const [{ startInterface }, { createPortalServer }] = await Promise.all([
  import('@gateway/composition'),
  import('./router.tsx'),
])
await startInterface({ name: 'portal', port: 8084, createServer: createPortalServer, sendsInBulk: true })

import { exitOnEarlySignals } from '@gateway/server/early-signals'

exitOnEarlySignals()
const [{ startInterface }, { createPortalServer }, { describeMalformed }] = await Promise.all([
  import('@gateway/composition'),
  import('./router.ts'),
  import('./rest-paths.ts'),
])
await startInterface({
  name: 'portal',
  port: 8084,
  createServer: createPortalServer,
  describeMalformed,
  sendsInBulk: true,
  connectsProviders: true,
})

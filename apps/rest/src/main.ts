import { exitOnEarlySignals } from '@gateway/server/early-signals'

exitOnEarlySignals()
const [{ startInterface }, { createRestServer }, { describeMalformed }] = await Promise.all([
  import('@gateway/composition'),
  import('./router.ts'),
  import('./routes.ts'),
])
await startInterface({ name: 'rest', port: 8081, createServer: createRestServer, describeMalformed })

import { exitOnEarlySignals } from '@gateway/server/early-signals'

exitOnEarlySignals()
const [{ startInterface }, { createAspServer }, { describeMalformed }] = await Promise.all([
  import('@gateway/composition'),
  import('./router.ts'),
  import('./routes.ts'),
])
await startInterface({
  name: 'asp',
  port: 8082,
  createServer: createAspServer,
  describeMalformed,
})

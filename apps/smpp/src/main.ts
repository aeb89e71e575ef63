import { exitOnEarlySignals } from '@gateway/server/early-signals'

exitOnEarlySignals()
await import('./service.ts')

import { leaveOnEarlySignals } from '@gateway/server/early-signals'

leaveOnEarlySignals()
await import('./service.ts')

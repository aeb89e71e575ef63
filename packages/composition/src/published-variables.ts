import { databaseVariables, loadVariables, loginVariables, serverVariables } from '@gateway/server/configuration'
import { gatewayVariables, processingVariables } from './variables.ts'
import { webhookVariables } from './webhook-ports.ts'

/** Every variable that any process or command reads (docs/configuration.md). An environment may have some that only others read. */
export const publishedVariables: readonly string[] = [
  ...Object.keys(serverVariables(0)),
  ...Object.keys(databaseVariables),
  ...Object.keys(loadVariables),
  ...Object.keys(loginVariables),
  ...Object.keys(gatewayVariables),
  ...Object.keys(processingVariables),
  ...Object.keys(webhookVariables),
  // Those of `dispatcher`, which is an app.
  ...['CARRIERS', 'IN_DOUBT_MAX', 'LEASE_SECONDS', 'VALIDITY_HOURS', 'RETRY_SECONDS'],
  // Those of libpq that count beside DATABASE_URL.
  ...['PGSSLMODE', 'PGSSLROOTCERT', 'PGSSLCERT', 'PGSSLKEY'],
]

import type { NodeSecretsSettings } from '@gateway/adapters-node'
import { loginSettings, warnOfFailedLogins } from '@gateway/server'
import type { ContextWith } from './open-ports.ts'

/** How a process checks passwords: by its environment, with a warning of log-ins that fail. */
export const loginsOf = ({
  environment,
  log,
}: Pick<ContextWith<Parameters<typeof loginSettings>[0]>, 'environment' | 'log'>): NodeSecretsSettings => ({
  ...loginSettings(environment),
  reportFailures: warnOfFailedLogins(log),
})
